import { errorClassOf } from '../../deliveries/core/error-class.ts';
import { dropExhausted, keepExhausted, takeExhausted } from '../../deliveries/log/exhausted.ts';
import { deliveryEvents, fleetingEvents } from '../../events/catalog.ts';
import { system, transact, type Transaction } from '../../events/transaction.ts';
import type { Database } from '../../postgres/database.ts';
import { sweep } from '../upkeep/sweep.ts';
import { noteForDigest } from './digests.ts';

/** Events of one webhook in an hour; further deliveries are counted by the next event. */
const maxPerHour = 100;
const batch = 1000;
const pageSize = 100;
// Batches of one webhook per sweep, so that none delays the others for long.
const batchesPerSweep = 200;

// Nobody waits for them, and events about deliveries would cause one another.
const untold: ReadonlySet<string> = new Set([...deliveryEvents, ...fleetingEvents]);

// Where the hour's events are used up, a single delivery waits for the next hour.
const findStatement = `
  SELECT q.account_id, q.webhook_id, a.name AS account_name FROM (
    SELECT account_id, webhook_id, count(*) AS waiting FROM exhausted_deliveries
    WHERE (account_id, webhook_id) > ($1, $2) GROUP BY account_id, webhook_id) q
  LEFT JOIN accounts a ON a.id = q.account_id
  LEFT JOIN webhook_notices n ON n.account_id = q.account_id AND n.webhook_id = q.webhook_id
  WHERE q.waiting > 1 OR n.told IS NULL OR n.told < ${maxPerHour} OR n.window_at <= now() - interval '1 hour'
  ORDER BY q.account_id, q.webhook_id LIMIT ${pageSize}`;

interface FoundRow {
  account_id: number;
  webhook_id: number;
  account_name: string | null;
}

/**
 * Says delivery_exhausted of deliveries to webhooks that were given up: for each webhook at most 100 times an hour. Further ones
 * are counted (`omitted`) by the next event. Returns how many deliveries were looked at.
 */
export function tellExhausted(database: Database): Promise<number> {
  return sweep<FoundRow>(database, {
    name: 'telling of deliveries given up',
    nameOf: ({ webhook_id: id }) => `webhook ${id}`,
    page: (after) => database.sql<FoundRow>(findStatement, [after?.account_id ?? 0, after?.webhook_id ?? 0]),
    pageSize,
    atOnce: 1,
    work: async ([found]) => (found ? tellOf(database, found) : 0),
  });
}

async function tellOf(database: Database, found: FoundRow): Promise<number> {
  const { account_id: id, account_name: name, webhook_id: webhookId } = found;
  if (name === null) return dropExhausted(database.sql, { accountId: id, webhookId });
  const scope = { account: { id, name }, actor: system };
  let done = 0;
  for (let round = 0; round < batchesPerSweep; round++) {
    const looked = await transact(database, scope, (tx) => tellSome(tx, webhookId));
    done += looked;
    if (looked < batch) break;
  }
  return done;
}

// The row's lock decides which of several processes tells.
const openStatement = `
  INSERT INTO webhook_notices AS n (account_id, webhook_id)
  SELECT account_id, id FROM webhooks WHERE account_id = $1 AND id = $2
  ON CONFLICT (account_id, webhook_id) DO UPDATE SET
    told = CASE WHEN n.window_at <= now() - interval '1 hour' THEN 0 ELSE n.told END,
    window_at = CASE WHEN n.window_at <= now() - interval '1 hour' THEN now() ELSE n.window_at END
  RETURNING n.told, n.omitted`;
const webhookStatement = 'SELECT id, name, url FROM webhooks WHERE account_id = $1 AND id = $2';
const countStatement = `
  UPDATE webhook_notices SET told = told + $3, omitted = $4 WHERE account_id = $1 AND webhook_id = $2`;

// Beyond the limit the newest is kept, so that the next hour's first event has one to tell of.
async function tellSome(tx: Transaction, webhookId: number): Promise<number> {
  const { account } = tx;
  const scope = [account.id, webhookId];
  const of = { accountId: account.id, webhookId };
  const [known] = await tx.sql<{ told: number; omitted: number }>(openStatement, scope);
  const [webhook] = await tx.sql<{ id: number; name: string | null; url: string }>(webhookStatement, scope);
  if (!known || !webhook) return dropExhausted(tx.sql, of);
  const taken = await takeExhausted(tx.sql, of, batch);
  const wanted = taken.filter(({ event }) => event !== null && !untold.has(event));
  const told = wanted.slice(0, Math.max(0, maxPerHour - known.told));
  const kept = wanted.length > told.length ? wanted.at(-1) : undefined;
  let { omitted } = known;
  for (const { id, event, error } of told) {
    const lastError = error && (errorClassOf(error) ?? error);
    tx.record('delivery_exhausted', { webhook, exhausted: { id, event: event ?? '', lastError, omitted }, account });
    omitted = 0;
  }
  if (kept) {
    omitted += wanted.length - told.length - 1;
    await keepExhausted(tx.sql, of, kept.id);
  }
  await tx.sql(countStatement, [...scope, told.length, omitted]);
  if (told.length > 0) await noteForDigest(tx);
  return taken.length;
}
