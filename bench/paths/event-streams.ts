import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Bench } from '../bench.ts';
import { median, percentile } from '../support/figures.ts';
import { oneByOne, type Ask } from '../support/load.ts';
import { createConversations, messages } from '../support/records.ts';
import { call, serviceEnv, token, withService, type Measured } from '../support/service.ts';
import { usageOf } from '../support/usage.ts';

const readers = 1_000;
const rounds = 3;
const roundMs = 10_000;
/** Every fifth request writes a message, which all readers get. */
const requestsPerSecond = 20;
const writesEvery = 5;
const restMs = 10_000;
const patienceMs = 20_000;

/** Usage of a process whose events 1,000 streams follow, and the API's response times meanwhile, compared with calm. */
export const eventStreams: Bench = {
  name: 'event-streams',
  needs: 'database',
  boundMs: 240_000,
  run: ({ databaseUrl }) => {
    const env = serviceEnv(databaseUrl, { CONNECTIONS_PER_ADDRESS: String(2 * readers) });
    return withService(env, async (service) => {
      const { url, pid } = service;
      const next = requests(await createConversations(url, 64));
      await steadily(url, next);
      const calm: Round[] = [];
      const beside: Round[] = [];
      const memory: number[] = [];
      const rest: number[] = [];
      let told = 0;
      const before = usageOf(pid).rssMb;
      for (let round = 0; round < rounds; round++) {
        calm.push(await measured(service, () => steadily(url, next)));
        const crowd = await openReaders(url);
        memory.push(usageOf(pid).rssMb);
        rest.push((await measured(service, () => sleep(restMs, []))).cpu);
        beside.push(await measured(service, () => steadily(url, next)));
        told += await crowd.close();
      }
      const name = `the API beside ${readers} streams`;
      const inCalm = (value: number) => ({ name: 'the same in calm', value });
      const latencyOf = (all: readonly Round[], share: number): number => {
        return percentile(
          all.flatMap(({ latencies }) => latencies),
          share,
        );
      };
      const latency = (share: number) => ({
        unit: 'ms' as const,
        ours: latencyOf(beside, share),
        limit: inCalm(latencyOf(calm, share)),
      });
      const cpuOf = (all: readonly Round[]): number => median(all.map(({ cpu }) => cpu));
      return [
        { path: `${name} (${told} events told), p50`, ...latency(0.5) },
        { path: `${name}, p99`, ...latency(0.99) },
        { path: `${name}: share of a core`, unit: '%', ours: cpuOf(beside), limit: inCalm(cpuOf(calm)) },
        { path: `${readers} streams at rest: share of a core`, unit: '%', ours: median(rest) },
        {
          path: `${readers} streams: RSS`,
          unit: 'MB',
          ours: median(memory),
          limit: { name: 'without', value: before },
        },
      ];
    });
  },
};

interface Round {
  latencies: number[];
  /** The share of a core, in percent. */
  cpu: number;
}

function requests(ids: readonly number[]): () => Ask {
  const write = messages(ids);
  let turn = 0;
  return () => (turn++ % writesEvery === 0 ? write() : { method: 'GET', path: 'conversations' });
}

/** So many requests a second, whatever they take: how long each took. */
async function steadily(url: string, next: () => Ask): Promise<number[]> {
  const begun = performance.now();
  const sent: Promise<number[]>[] = [];
  for (let count = 0; count < (requestsPerSecond * roundMs) / 1000; count++) {
    await sleep(Math.max(0, begun + (count * 1000) / requestsPerSecond - performance.now()));
    sent.push(oneByOne(url, 1, next));
  }
  return (await Promise.all(sent)).flat();
}

async function measured({ pid }: Measured, work: () => Promise<number[]>): Promise<Round> {
  const [begun, before] = [performance.now(), usageOf(pid).cpuSeconds];
  const latencies = await work();
  const seconds = (performance.now() - begun) / 1000;
  return { latencies, cpu: ((usageOf(pid).cpuSeconds - before) / seconds) * 100 };
}

interface Crowd {
  /** Waits until every reader has the same events, and ends them; how many events were told in all. */
  close(): Promise<number>;
}

async function openReaders(url: string): Promise<Crowd> {
  const program = new URL('../support/stream-readers.ts', import.meta.url);
  // How many are open, and how many events each has.
  const counts = new Uint32Array(new SharedArrayBuffer(4 * (readers + 1)));
  const worker = new Worker(program, { workerData: { url, token, counts } });
  const failed = once(worker, 'error').then(([error]) => Promise.reject(error as Error));
  const until = (isSo: () => boolean, what: string) => Promise.race([failed, wait(isSo, what)]);
  await until(() => counts[0] === readers, `${readers} streams`);
  return {
    close: async () => {
      const before = Math.max(...counts.subarray(1));
      // An event that every reader gets marks the end: nothing follows it.
      await call(url, 'POST', 'contacts', { name: 'The last' });
      const least = () => Math.min(...counts.subarray(1));
      await until(() => least() > before && least() === Math.max(...counts.subarray(1)), 'every event at every reader');
      const told = least() * readers;
      failed.catch(() => undefined);
      await worker.terminate();
      return told;
    },
  };
}

async function wait(isSo: () => boolean, what: string): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`Waited in vain for ${what}`);
    await sleep(20);
  }
}
