import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../postgres/database.ts';
import { isOutage } from '../postgres/errors.ts';
import { moment, sql, type Executor } from '../postgres/sql.ts';

/** An event in its account's feed. Positions count up from 1; those of deleted events are missing. */
export interface FeedEvent {
  position: number;
  id: number;
  name: string;
  conversationId: number | null;
  /** Its place among the events of its conversation; null for events of contacts. */
  sequence: number | null;
  /** What account webhooks are told; null for events that are for bots alone. */
  payload: Record<string, unknown> | null;
  createdAt: Date;
}

interface FeedRow {
  position: number;
  id: number;
  name: string;
  conversation_id: number | null;
  sequence: number | null;
  account_payload: Record<string, unknown> | null;
  created_at: string;
}

/**
 * The account's events behind a position, in order, `limit` at most. Whoever goes on from the last position read sees
 * every event once, whatever else commits meanwhile.
 */
export async function readFeed(
  executor: Executor,
  accountId: number,
  { after, limit }: { after: number; limit: number },
): Promise<FeedEvent[]> {
  const rows = await sql<FeedRow>(
    executor,
    `SELECT f.position, e.id, e.name, e.conversation_id, e.sequence, e.account_payload, e.created_at
     FROM event_feed f JOIN events e ON e.account_id = f.account_id AND e.id = f.event_id
     WHERE f.account_id = $1 AND f.position > $2 ORDER BY f.position LIMIT $3`,
    [accountId, after, limit],
  );
  return rows.map(({ conversation_id: conversationId, account_payload: payload, created_at: createdAt, ...rest }) => ({
    ...rest,
    conversationId,
    payload,
    createdAt: moment(createdAt),
  }));
}

const batch = 1000;

// Ids of one conversation's events are taken under its row lock, so their order is that of their sequence, and whoever
// sees one sees those before it. `$1` is an account, or null for all.
const placeStatement = `
  WITH waiting AS (
    SELECT account_id, event_id FROM unplaced_events WHERE $1::bigint IS NULL OR account_id = $1
    ORDER BY event_id LIMIT ${batch}
  ), heads AS (
    INSERT INTO event_feed_heads AS head (account_id, position)
    SELECT account_id, count(*) FROM waiting GROUP BY account_id ORDER BY account_id
    ON CONFLICT (account_id) DO UPDATE SET position = head.position + excluded.position
    RETURNING account_id, position
  ), placed AS (
    INSERT INTO event_feed (account_id, position, event_id)
    SELECT account_id, head.position - count(*) OVER account + row_number() OVER (account ORDER BY event_id), event_id
    FROM waiting JOIN heads head USING (account_id) WINDOW account AS (PARTITION BY account_id)
  )
  DELETE FROM unplaced_events u USING waiting w WHERE u.event_id = w.event_id AND u.account_id = w.account_id
  RETURNING u.event_id`;

// One places at a time in a database: the next begins when what this one has placed is there for all to see.
async function placeBatch(em: EntityManager, accountId: number | null): Promise<boolean> {
  const [lock] = await sql<{ taken: boolean }>(em, 'SELECT pg_try_advisory_xact_lock(7237003) AS taken');
  if (!lock?.taken) return false;
  return (await sql(em, placeStatement, [accountId])).length === batch;
}

async function place(database: Database, accountId: number | null): Promise<void> {
  let more = true;
  while (more) more = await database.em().transactional((em) => placeBatch(em, accountId));
}

/**
 * Gives every committed event without a position the next ones of its account, a batch to a transaction; nothing where
 * another process is at it. An account whose events are locked, because they are being deleted, does not keep the others
 * waiting: its failure is told to `failed`, and its events wait for the next call.
 */
export async function placeEvents(database: Database, failed: (error: unknown) => void): Promise<void> {
  try {
    return await place(database, null);
  } catch (error) {
    if (isOutage(error)) throw error;
  }
  const accounts = await sql<{ id: number }>(database.em(), 'SELECT DISTINCT account_id AS id FROM unplaced_events');
  for (const { id } of accounts) await place(database, id).catch(failed);
}
