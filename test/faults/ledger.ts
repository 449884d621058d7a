import { expect } from 'chai';
import { loadConfig } from '../../src/config.ts';
import { readLedger } from '../../src/deliveries/log/ledger.ts';
import { placeEvents } from '../../src/events/feed.ts';
import type { TestApp } from '../support/app.ts';
import { eventually, rowsOf } from './helpers.ts';
import type { Arrival } from './sink.ts';

interface DeliveryRow {
  event_id: string;
  endpoint_id: string;
  state: string;
  conversation_id: string | null;
  sequence: string | null;
  payload: string;
  delivered: number;
  unknown: number;
  failed: number;
  attempt: number;
}

/** The ledger after a fault. */
export interface Accounts {
  deliveries: number;
  arrivals: number;
  /** Arrivals beyond the first of a webhook-id. */
  duplicates: number;
  /** Attempts with an unknown end. */
  unknown: number;
}

const deliveriesOfWebhooks = `
  SELECT d.event_id, d.endpoint_id, d.state, d.attempt, e.conversation_id, e.sequence, e.account_payload::text AS payload,
    (SELECT count(*)::int FROM attempts a WHERE a.delivery_id = d.id AND a.outcome = 'delivered') AS delivered,
    (SELECT count(*)::int FROM attempts a WHERE a.delivery_id = d.id AND a.outcome = 'unknown') AS unknown,
    (SELECT count(*)::int FROM attempts a WHERE a.delivery_id = d.id AND a.outcome = 'failed') AS failed
  FROM deliveries d JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id
  JOIN webhooks w ON w.account_id = d.account_id AND w.id = d.endpoint_id
  WHERE d.endpoint_kind = 'webhook' ORDER BY d.event_id`;

/** Waits until all deliveries of the database have ended; on a timeout reports which lanes wait, and for what. */
export async function settled(url: string, timeoutMs: number): Promise<void> {
  const pending = (): Promise<object[]> =>
    rowsOf(
      url,
      `SELECT l.id AS lane, l.endpoint_kind, count(*)::int AS pending, max(d.attempt) AS attempt, max(d.last_error) AS error,
         l.lease_token IS NOT NULL AS leased, extract(epoch FROM l.due_at - now())::float AS due_in_s
       FROM lanes l JOIN deliveries d ON d.account_id = l.account_id AND d.lane_id = l.id
       WHERE d.state = 'pending' GROUP BY l.id ORDER BY l.id LIMIT 10`,
    );
  const isSettled = async (): Promise<boolean> => (await pending()).length === 0;
  await eventually(isSettled, timeoutMs, async () => `${JSON.stringify(await pending())} wait`);
}

/**
 * Holds what arrived against what the database says, once nothing is pending: every delivery arrived, its body byte for
 * byte; what arrived more than once has an attempt of unknown end for each repetition; nothing arrived that was never
 * committed; and no event came after a later one of its conversation.
 */
export async function balance(url: string, log: readonly Arrival[]): Promise<Accounts> {
  // Taken before the rows are read: what arrives while they are read may be of an event committed after them.
  const arrivals = [...log];
  const rows = await rowsOf<DeliveryRow>(url, deliveriesOfWebhooks);
  const byId = Map.groupBy(arrivals, ({ webhookId }) => webhookId);
  const known = new Map(rows.map((row) => [`evt_${row.event_id}_webhook_${row.endpoint_id}`, row]));
  const ghosts = [...byId.keys()].filter((id) => !known.has(id));
  expect(ghosts, 'arrived without ever being committed').to.deep.equal([]);
  const accounts: Accounts = { deliveries: rows.length, arrivals: arrivals.length, duplicates: 0, unknown: 0 };
  for (const [id, row] of known) {
    const came = byId.get(id) ?? [];
    expect(row, id).to.include({ state: 'delivered', delivered: 1, attempt: 1 + row.unknown + row.failed });
    // An attempt that failed may have failed before it arrived.
    expect(came.length, `${id} arrived`).to.be.within(1, 1 + row.failed + row.unknown);
    for (const { text } of came) expect(text).to.equal(row.payload);
    accounts.duplicates += Math.max(0, came.length - 1 - row.failed);
    accounts.unknown += row.unknown;
  }
  expectOrder(arrivals, known);
  await expectLedger(url);
  return accounts;
}

/** Holds the database against the ledger's invariants, which hold at every moment. */
export async function expectLedger(url: string): Promise<void> {
  const { holdAttempts } = loadConfig({ DATABASE_URL: url, SECRET_KEY: 'x'.repeat(32) });
  const { invariants } = await readLedger({ databaseUrl: url, holdAttempts, timeoutMs: 60_000 });
  expect(invariants.filter(({ violations }) => violations > 0)).to.deep.equal([]);
}

/** Ends a test's app, whose events are placed even if it has no engine; the ledger of its database has to be clean, whatever was done to it. */
export async function stopClean(app: TestApp): Promise<void> {
  try {
    const failures: unknown[] = [];
    await placeEvents(app.app.database, (error) => failures.push(error));
    expect(failures).to.deep.equal([]);
    if (!app.hasEngine) await forgiveWaiting(app);
    await expectLedger(app.databaseUrl);
  } finally {
    await app.stop();
  }
}

// A busy machine takes longer than a minute for some tests that leave deliveries behind, which no engine is there to make.
async function forgiveWaiting(app: TestApp): Promise<void> {
  await rowsOf(app.databaseUrl, 'UPDATE lanes SET due_at = now() WHERE due_at < now()');
}

function expectOrder(arrivals: readonly Arrival[], known: ReadonlyMap<string, DeliveryRow>): void {
  const lanes = Map.groupBy(arrivals, ({ webhookId, endpointId }) => {
    return `${endpointId} ${known.get(webhookId)?.conversation_id ?? 'contact'}`;
  });
  for (const [lane, came] of lanes) {
    if (lane.endsWith('contact')) continue;
    const sequences = came.map(({ webhookId }) => Number(known.get(webhookId)?.sequence));
    expect(sequences, `lane ${lane}`).to.deep.equal(sequences.toSorted((a, b) => a - b));
  }
}
