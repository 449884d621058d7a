// The same posts as jobs of graphile-worker, with its queue in the process and its finishing in batches, which serve it best.
import { makeWorkerUtils, run } from 'graphile-worker';
import { atOnce, Poster } from '../support/post.ts';

const [receiver = '', count = '0', rounds = '1', secret = ''] = process.argv.slice(2);
const connectionString = process.env.DATABASE_URL ?? '';
const poster = new Poster(receiver, secret);

const utils = await makeWorkerUtils({ connectionString });
await utils.migrate();
const runner = await run({
  connectionString,
  concurrency: atOnce,
  maxPoolSize: atOnce,
  noHandleSignals: true,
  taskList: { post: (payload) => poster.post((payload as { id: string }).id) },
  preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 50 } },
});
console.log(`listens on ${receiver}: nothing, it posts there`);
process.once('SIGTERM', () => {
  void runner
    .stop()
    .then(() => utils.release())
    .then(() => poster.close());
});
await poster.rounds({ count: Number(count), rounds: Number(rounds) }, (ids) =>
  utils.addJobs(ids.map((id) => ({ identifier: 'post', payload: { id } }))),
);
