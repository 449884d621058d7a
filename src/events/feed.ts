import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../postgres/database.ts';
import { isOutage } from '../postgres/errors.ts';
import { sql } from '../postgres/sql.ts';

/**
 * Gives all committed events without a position the next positions of their account, in batches; does nothing while another
 * process does. If that fails because an account's events are locked (they are being deleted), places the other accounts'
 * events one account at a time: errors are passed to `failed`, and that account's events wait for the next call. `placed` is
 * called after each commit, with the accounts whose feeds are longer now.
 */
export async function placeEvents(
  database: Database,
  failed: (error: unknown) => void,
  placed: (accounts: readonly number[]) => void = () => undefined,
): Promise<void> {
  try {
    return await place(database, { accountId: null, placed });
  } catch (error) {
    if (isOutage(error)) throw error;
  }
  const accounts = await sql<{ id: number }>(database.em(), 'SELECT DISTINCT account_id AS id FROM unplaced_events');
  for (const { id } of accounts) await place(database, { accountId: id, placed }).catch(failed);
}

/** Whether any committed event waits for its position. */
export async function isAnyUnplaced(database: Database): Promise<boolean> {
  return (await sql(database.em(), 'SELECT FROM unplaced_events LIMIT 1')).length > 0;
}

const batch = 1000;

// Event ids of one conversation are taken under its row lock, so their order is that of its sequence, and a snapshot with
// one event contains all before it. Events that were deleted meanwhile get no position. `$1` is an account, or null for all.
const placeStatement = `
  WITH waiting AS MATERIALIZED (
    SELECT account_id, event_id FROM unplaced_events WHERE $1::bigint IS NULL OR account_id = $1
    ORDER BY event_id LIMIT ${batch}
  ), there AS MATERIALIZED (
    SELECT w.account_id, w.event_id FROM waiting w CROSS JOIN LATERAL (
      SELECT FROM events e WHERE e.account_id = w.account_id AND e.id = w.event_id LIMIT 1) e
  ), heads AS (
    INSERT INTO event_feed_heads AS head (account_id, position)
    SELECT account_id, count(*) FROM there GROUP BY account_id ORDER BY account_id
    ON CONFLICT (account_id) DO UPDATE SET position = head.position + excluded.position
    RETURNING account_id, position
  ), placed AS (
    INSERT INTO event_feed (account_id, position, event_id)
    SELECT account_id, head.position - count(*) OVER account + row_number() OVER (account ORDER BY event_id), event_id
    FROM there JOIN heads head USING (account_id) WINDOW account AS (PARTITION BY account_id)
  )
  DELETE FROM unplaced_events u USING waiting w WHERE u.event_id = w.event_id AND u.account_id = w.account_id
  RETURNING u.account_id`;

// Serialized per database: the next batch begins after this one has committed. Answers the account of each event.
async function placeBatch(em: EntityManager, accountId: number | null): Promise<number[]> {
  const [lock] = await sql<{ taken: boolean }>(em, 'SELECT pg_try_advisory_xact_lock(7237003) AS taken');
  if (!lock?.taken) return [];
  return (await sql<{ account_id: number }>(em, placeStatement, [accountId])).map(({ account_id: id }) => id);
}

async function place(
  database: Database,
  { accountId, placed }: { accountId: number | null; placed: (accounts: readonly number[]) => void },
): Promise<void> {
  let more = true;
  while (more) {
    const accounts = await database.em().transactional((em) => placeBatch(em, accountId));
    if (accounts.length > 0) placed([...new Set(accounts)]);
    more = accounts.length === batch;
  }
}
