// The same posts as jobs of pg-boss, fetched and finished in batches as long as there are full ones.
import { PgBoss } from 'pg-boss';
import { atOnce, Poster } from '../support/post.ts';

const [receiver = '', count = '0', rounds = '1', secret = ''] = process.argv.slice(2);
const queue = 'post';
const workers = 4;
const poster = new Poster(receiver, secret);

const boss = new PgBoss(process.env.DATABASE_URL ?? '');
boss.on('error', (error) => console.error(error));
await boss.start();
await boss.createQueue(queue);
const options = { batchSize: atOnce, localConcurrency: workers, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };
await boss.work<{ id: string }>(queue, options, async (jobs) => {
  await Promise.all(jobs.map(({ data }) => poster.post(data.id)));
});
console.log(`listens on ${receiver}: nothing, it posts there`);
process.once('SIGTERM', () => {
  void boss.stop({ graceful: false }).then(() => poster.close());
});
await poster.rounds({ count: Number(count), rounds: Number(rounds) }, (ids) =>
  boss.insert(
    queue,
    ids.map((id) => ({ data: { id } })),
  ),
);
