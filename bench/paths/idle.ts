import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Figure } from '../bench.ts';
import { withFolder } from '../support/database.ts';
import { load } from '../support/load.ts';
import { createConversations, messages } from '../support/records.ts';
import { serviceEnv, withService } from '../support/service.ts';
import { usageOf } from '../support/usage.ts';
import { difference, onWire } from '../support/wire.ts';

const minuteMs = 60_000;
const lookMs = 20_000;
const busy = { connections: 16, roundMs: 10_000 };

/** Usage of the service when nothing happens: memory after a minute and after work, computing time, statements. */
export const idle: Bench = {
  name: 'idle',
  needs: 'database',
  boundMs: 240_000,
  async run({ databaseUrl }) {
    const [statements, memory] = await Promise.all([statementsAtRest(databaseUrl), memoryOfStart()]);
    return [...memory, { path: 'idle: statements', unit: '/s', ours: statements }];
  },
};

/** `npm start` as it comes, with the PostgreSQL that it brings, which is not counted. */
function memoryOfStart(): Promise<Figure[]> {
  return withFolder((dataDir) => {
    const { DATABASE_URL: _, ...env } = serviceEnv('', { DATA_DIR: dataDir });
    return withService(env, async ({ url, pid }) => {
      await sleep(minuteMs - lookMs);
      const early = usageOf(pid);
      await sleep(lookMs);
      const minute = usageOf(pid);
      const ids = await createConversations(url, 64);
      await load(url, { ...busy, next: messages(ids) });
      const share = (minute.cpuSeconds - early.cpuSeconds) / (lookMs / 1000);
      return [
        { path: 'RSS of `npm start` after a minute', unit: 'MB', ours: minute.rssMb },
        { path: 'RSS of `npm start` after work', unit: 'MB', ours: usageOf(pid).rssMb },
        { path: 'idle: share of a core', unit: '%', ours: share * 100 },
      ];
    });
  });
}

/** Statements per second, those of the clock included. */
function statementsAtRest(databaseUrl: string): Promise<number> {
  return onWire(
    databaseUrl,
    (wire) =>
      withService(serviceEnv(wire.url), async () => {
        await sleep(lookMs);
        const before = wire.total;
        await sleep(lookMs);
        return difference(before, wire.total).statements / (lookMs / 1000);
      }),
    { clock: true },
  );
}
