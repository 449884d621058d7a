// The same posts as jobs of Agenda, one each, on PostgreSQL.
import { PostgresBackend } from '@agendajs/postgres-backend';
import { Agenda, type Job } from 'agenda';
import { Pool } from 'pg';
import { atOnce, Poster } from '../support/post.ts';

const [receiver = '', count = '0', rounds = '1', secret = ''] = process.argv.slice(2);
const poster = new Poster(receiver, secret);
const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const agenda = new Agenda({
  backend: new PostgresBackend({ pool, tableName: 'peer_jobs' }),
  processEvery: 100,
  maxConcurrency: atOnce,
  defaultConcurrency: atOnce,
});
agenda.define('post', (job: Job<{ id: string }>, done: (error?: Error) => void) => void post(job, done));
await agenda.ready;
await agenda.start();
console.log(`listens on ${receiver}: nothing, it posts there`);
process.once('SIGTERM', () => {
  void agenda
    .stop(false)
    .then(() => pool.end())
    .then(() => poster.close());
});
await poster.rounds({ count: Number(count), rounds: Number(rounds) }, async (ids) => {
  // Due when all are there, as the others' are.
  const at = new Date(Date.now() + 2_000);
  await Promise.all(ids.map((id) => agenda.schedule(at, 'post', { id })));
});

async function post(job: Job<{ id: string }>, done: (error?: Error) => void): Promise<void> {
  try {
    await poster.post(job.attrs.data.id);
    done();
  } catch (error) {
    done(error as Error);
  }
}
