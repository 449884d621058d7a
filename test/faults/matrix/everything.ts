import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedPostgres } from '../../../src/postgres/embedded/start.ts';
import type { ServiceProcess } from '../../support/service.ts';
import type { DatabaseFault } from './fault.ts';
import * as manners from './manners.ts';
import { until } from './patience.ts';
import type { Conduct } from './receiver.ts';
import type { Trial } from './trial.ts';

const day = 86_400;
const oddOnce = 0.02;

/** Now and then one of everything that a receiver can do. */
function moody(trial: Trial): Conduct {
  const moods = [
    manners.hang,
    manners.dripHeaders,
    manners.dripBody,
    manners.reset,
    manners.lie,
    manners.closeAfterHeaders,
    manners.garbage,
    manners.longHeaders,
    manners.slow(200),
    manners.status(500),
    manners.status(503),
    manners.status(429, { 'retry-after': '1' }),
  ];
  const { random } = trial.scale;
  return (_, count) =>
    count === 1 && random() < oddOnce ? (moods[Math.floor(random() * moods.length)] ?? manners.ok) : manners.ok;
}

type Act = (trial: Trial, server: EmbeddedPostgres) => Promise<unknown>;

const startEngine = ({ services }: Trial): Promise<ServiceProcess> =>
  services.startEngine({ env: services.steered({ clock: 'engine' }) });
const startWeb = ({ services }: Trial): Promise<ServiceProcess> =>
  services.startWeb({ env: services.steered({ clock: 'web' }) });

const acts: readonly Act[] = [
  async (trial) => {
    const [engine] = trial.services.engines;
    if (engine) await trial.services.kill(engine);
    await startEngine(trial);
  },
  async (trial) => {
    const { web } = trial.services;
    if (web) await trial.services.kill(web);
    await startWeb(trial);
  },
  ({ services, scale }, server) =>
    services.disturb('restart of PostgreSQL', () => server.restart(scale.random() < 0.5 ? 'fast' : 'immediate', 200)),
  async ({ services, scale }) => {
    services.moveClock('engine', Math.floor((scale.random() - 0.5) * 2 * day));
    services.moveClock('web', Math.floor((scale.random() - 0.5) * 2 * day));
  },
  async ({ services, scale }) => {
    const [engine] = services.engines;
    if (!engine) return;
    await services.disturb('SIGSTOP', async () => {
      process.kill(engine.pid, 'SIGSTOP');
      await sleep(scale.pick(500, 15_000));
      services.wake(engine);
    });
  },
];

/** All of it at once. */
export const everything: DatabaseFault = {
  id: 'all',
  what: 'at once: kill -9 of engines and web, PostgreSQL restarts, SIGSTOP, clock jumps, and receivers that hang, drip, reset and lie',
  engines: 2,
  env: { WEBHOOK_TIMEOUT_MS: '3000', LEASE_SECONDS: '10' },
  runOn: async (trial, server) => {
    const { scale } = trial;
    await Promise.all([startWeb(trial), startEngine(trial), startEngine(trial)]);
    await trial.receiver('healthy', () => manners.ok);
    await trial.receiver('also-healthy', () => manners.slow(Math.floor(scale.random() * 20)));
    const odd = await trial.receiver('moody', moody(trial));
    const producer = await trial.producer(scale.pick(8, 40));
    const messages = scale.pick(200, 30_000);
    const writing = producer.write(messages);
    const rounds = scale.pick(acts.length, 5 * acts.length);
    for (let round = 0; round < rounds; round += 1) {
      const wanted = Math.floor((messages * (round + 1)) / (rounds + 1));
      await until('so many messages', () => producer.writes.length >= wanted);
      await acts[round % acts.length]?.(trial, server);
    }
    await writing;
    odd.receiver.conduct = () => manners.ok;
  },
};
