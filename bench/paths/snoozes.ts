import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Bench, Cost, Figure } from '../bench.ts';
import { createLeanTables } from '../limits/lean.ts';
import { generateAccount } from '../support/account.ts';
import { withClient } from '../support/database.ts';
import { percentile } from '../support/figures.ts';
import { load, type Ask } from '../support/load.ts';
import { serviceEnv, withService } from '../support/service.ts';
import { onWire, difference } from '../support/wire.ts';

const calmMs = 5_000;
const patienceMs = 120_000;
// Until then the account is generated, the service started, and measured at rest.
const leadMs = 30_000;
const leadMsEach = 0.3;
// Enough to see what clients feel, too few to take the machine from the waking.
const visitors = 2;
// Snoozes whose statements are counted while nobody reads.
const counted = 5_000;

/** Snoozes that are due at once: how long until all are awake, and what reading clients feel meanwhile. */
export const snoozes: Bench = {
  name: 'snoozes',
  needs: 'database',
  boundMs: 300_000,
  async run({ databaseUrl, due }) {
    const dueAt = new Date(Date.now() + leadMs + due * leadMsEach);
    await generateAccount(databaseUrl, due, dueAt);
    await createLeanTables(databaseUrl, due);
    return withClient(databaseUrl, async (database) => {
      const limit = due / ((await wakeLean(database)) / 1000);
      const { calm, ms, busyMs } = await withService(serviceEnv(databaseUrl), async ({ url }) => {
        const atRest = await load(url, { connections: visitors, roundMs: calmMs, next: reading(due) });
        const wakingFrom = dueAt.getTime();
        if (Date.now() > wakingFrom) throw new Error('The snoozes were due before the service was measured at rest');
        await sleep(wakingFrom - Date.now());
        return { calm: atRest, ...(await wakeAll(database, url, due)) };
      });
      const figures: Figure[] = [
        {
          path: `snoozes, ${due} due at once`,
          unit: '/s',
          ours: due / (ms / 1000),
          limit: { name: 'one batched update, lean table', value: limit },
          cost: await costOfEach(databaseUrl, database, Math.min(counted, due)),
        },
        ...[0.5, 0.99].map((share): Figure => ({
          path: `GET conversation while they wake, p${share * 100}`,
          unit: 'ms',
          ours: percentile(busyMs, share),
          limit: { name: 'calm', value: percentile(calm.latenciesMs, share) },
        })),
      ];
      return figures;
    });
  },
};

/** Returns the cost of one snooze while nobody reads, including the sweep's queries and the events' places in the feed. */
async function costOfEach(databaseUrl: string, database: Client, snoozed: number): Promise<Cost> {
  return onWire(databaseUrl, (wire) =>
    withService(serviceEnv(wire.url), async () => {
      await database.query(
        `UPDATE conversations SET status = 'snoozed', snoozed_until = now() + interval '5 seconds' WHERE id <= $1`,
        [snoozed],
      );
      const before = wire.total;
      const until = performance.now() + patienceMs;
      while ((await isAny(database, 'snoozed')) && performance.now() < until) await sleep(50);
      const { trips, statements } = difference(before, wire.total);
      return { trips: trips / snoozed, statements: statements / snoozed };
    }),
  );
}

// Looks whether any is left, without counting them: repeated counts would take processor time from the waking.
async function isAny(database: Client, status: 'open' | 'snoozed'): Promise<boolean> {
  const { rows } = await database.query('SELECT FROM conversations WHERE account_id = 1 AND status = $1 LIMIT 1', [
    status,
  ]);
  return rows.length > 0;
}

function reading(conversations: number): () => Ask {
  let next = 0;
  return () => ({ method: 'GET', path: `conversations/${1 + (next++ % conversations)}` });
}

/** Resolves with the time from the first that woke to the last, and how long reads took meanwhile. */
async function wakeAll(database: Client, url: string, due: number): Promise<{ ms: number; busyMs: number[] }> {
  const until = performance.now() + patienceMs;
  const busyMs: number[] = [];
  let begun = performance.now();
  while (performance.now() < until) {
    const { latenciesMs } = await load(url, { connections: visitors, roundMs: 50, next: reading(due) });
    if (!(await isAny(database, 'open'))) {
      begun = performance.now();
      continue;
    }
    busyMs.push(...latenciesMs);
    if (!(await isAny(database, 'snoozed'))) return { ms: performance.now() - begun, busyMs };
  }
  throw new Error('Not all conversations woke');
}

/** Wakes as many in one update; resolves with the milliseconds. */
async function wakeLean(database: Client): Promise<number> {
  await database.query(`UPDATE lean.conversations SET status = 'snoozed', snoozed_until = now()`);
  const begun = performance.now();
  await database.query(
    `UPDATE lean.conversations SET status = 'open', snoozed_until = NULL, event_sequence = event_sequence + 1,
       updated_at = now() WHERE status = 'snoozed' AND snoozed_until <= now()`,
  );
  return performance.now() - begun;
}
