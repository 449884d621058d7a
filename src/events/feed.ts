import type { Database } from '../postgres/database.ts';
import { isOutage } from '../postgres/errors.ts';

/**
 * Gives all committed events without a position the next positions of their account, in batches in which each account has its
 * share; leaves out accounts whose events another process places. If that fails because an account's events are locked (they
 * are being deleted), places one account at a time: errors are passed to `failed`, and that account's events wait for the next
 * call. `placed` is called after each commit, with the accounts whose feeds are longer now.
 */
export async function placeEvents(
  database: Database,
  failed: (error: unknown) => void,
  placed: (accounts: readonly number[]) => void = () => undefined,
): Promise<void> {
  let isLeft = true;
  while (isLeft) {
    isLeft = false;
    let ids = await waitingAccounts(database, 0);
    while (ids.length > 0) {
      for (const account of await placeOrEach(database, ids, { failed, placed })) isLeft ||= account.isLeft;
      ids = ids.length < accountsAtOnce ? [] : await waitingAccounts(database, Math.max(...ids));
    }
  }
}

/** Whether any committed event waits for its position. */
export async function isAnyUnplaced(database: Database): Promise<boolean> {
  return (await database.sql('SELECT FROM unplaced_events LIMIT 1')).length > 0;
}

const batch = 1000;
const accountsAtOnce = 100;

/** An account whose events were placed, and whether some may be left. */
interface Placed {
  id: number;
  isLeft: boolean;
}

// The queue's index is read once per account, however many events an account has in it.
const waitingStatement = `
  WITH RECURSIVE waiting AS (
    (SELECT account_id FROM unplaced_events WHERE account_id > $1 ORDER BY account_id LIMIT 1)
    UNION ALL
    SELECT (SELECT account_id FROM unplaced_events WHERE account_id > w.account_id ORDER BY account_id LIMIT 1)
    FROM waiting w WHERE w.account_id IS NOT NULL
  )
  SELECT account_id AS id FROM waiting WHERE account_id IS NOT NULL LIMIT ${accountsAtOnce}`;

// An account's next batch begins after this one has committed, in whichever process.
const lockStatement = `
  SELECT id FROM unnest($1::bigint[]) account (id) WHERE pg_try_advisory_xact_lock(hashtextextended('feed ' || id, 0))`;

// Event ids of one conversation are taken under its row lock, so their order is that of its sequence, and a snapshot with
// one event contains all before it. Events that were deleted meanwhile get no position. `$1` are accounts, `$2` is how many
// events each may have.
const placeStatement = `
  WITH waiting AS MATERIALIZED (
    SELECT w.account_id, w.event_id FROM unnest($1::bigint[]) a (id) CROSS JOIN LATERAL (
      SELECT account_id, event_id FROM unplaced_events WHERE account_id = a.id ORDER BY event_id LIMIT $2) w
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
  ), emptied AS (
    DELETE FROM unplaced_events u USING waiting w WHERE u.event_id = w.event_id AND u.account_id = w.account_id
    RETURNING u.account_id
  )
  SELECT account_id AS id, count(*) = $2 AS "isLeft" FROM emptied GROUP BY account_id`;

async function waitingAccounts(database: Database, after: number): Promise<number[]> {
  return (await database.sql<{ id: number }>(waitingStatement, [after])).map(({ id }) => id);
}

interface Outcomes {
  failed: (error: unknown) => void;
  placed: (accounts: readonly number[]) => void;
}

async function placeOrEach(database: Database, ids: readonly number[], outcomes: Outcomes): Promise<Placed[]> {
  try {
    return await place(database, ids, outcomes);
  } catch (error) {
    if (isOutage(error)) throw error;
  }
  const all: Placed[] = [];
  for (const id of ids) {
    await place(database, [id], outcomes).then((one) => all.push(...one), outcomes.failed);
  }
  return all;
}

async function place(database: Database, ids: readonly number[], { placed }: Outcomes): Promise<Placed[]> {
  const accounts = await database.transaction(async (sql) => {
    const locked = await sql<{ id: number }>(lockStatement, [ids]);
    if (locked.length === 0) return [];
    return sql<Placed>(placeStatement, [locked.map(({ id }) => id), Math.ceil(batch / locked.length)]);
  });
  if (accounts.length > 0) placed(accounts.map(({ id }) => id));
  return accounts;
}
