import type { Sql } from '../../postgres/sql.ts';

interface Row {
  id: number;
}

/** Where a page of rows begins, and its length. */
interface Page {
  after: number;
  limit: number;
}

// Behind a pause nothing is kept for longer than the rest: administrators were told after a day. A resend counts from its request.
const isForgotten = (
  lanes: string,
): string => `d.created_at < now() - make_interval(days => $1) AND ${lanes} AND EXISTS (
  SELECT FROM webhooks w WHERE d.endpoint_kind = 'webhook' AND w.id = d.endpoint_id AND w.paused_at < now() - interval '1 day'
  UNION ALL
  SELECT FROM agent_bots b WHERE d.endpoint_kind = 'bot' AND b.id = d.endpoint_id AND b.paused_at < now() - interval '1 day')`;
// An event with another pending delivery is kept, whatever its age, and so is one that no reader of the feed can have seen. Its age
// counts from the end of its last delivery: what ended after days of attempts can be looked at, and recovered, as long as all
// else.
const isDeletable = (lanes: string): string => `e.created_at < now() - make_interval(days => $1) AND NOT EXISTS (
  SELECT FROM deliveries d WHERE d.account_id = e.account_id AND d.event_id = e.id
    AND (d.state = 'pending' AND NOT (${isForgotten(lanes)}) OR d.finished_at >= now() - make_interval(days => $1)))
  AND NOT EXISTS (SELECT FROM unplaced_events u WHERE u.account_id = e.account_id AND u.event_id = e.id)`;
const findEvents = `SELECT e.id FROM events e WHERE ${isDeletable('d.lease_token IS NULL')} AND e.id > $2 ORDER BY e.id LIMIT $3`;
// Until the end nothing in these lanes can be claimed; a delivery that is under way keeps its event.
const lockLanes = `
  SELECT l.id FROM lanes l WHERE l.lease_token IS NULL AND l.id IN (
    SELECT d.lane_id FROM events e JOIN deliveries d ON d.account_id = e.account_id AND d.event_id = e.id
    WHERE e.id = ANY ($1) AND d.state = 'pending') FOR UPDATE SKIP LOCKED`;
const settleLanes = `
  UPDATE lanes l SET due_at = (SELECT min(next_attempt_at) FROM deliveries d WHERE d.lane_id = l.id AND d.state = 'pending')
  WHERE l.id = ANY ($1)`;
// Locked before it is decided what may be deleted: a delivery that somebody asks for again meanwhile refers to its event, and
// would be deleted with it. Events to which something is being added are left to the next sweep.
const lockEvents = 'SELECT id FROM events WHERE id = ANY ($1) FOR UPDATE SKIP LOCKED';
// The feed of each account learns how far it was deleted: a reader who is behind that has missed events.
const deleteEvents = `
  WITH gone AS (DELETE FROM events e WHERE ${isDeletable('d.lane_id = ANY ($3)')} AND e.id = ANY ($2) RETURNING e.account_id, e.id),
  passed AS (
    SELECT account_id, max(f.position) AS position
    FROM gone JOIN event_feed f USING (account_id) WHERE f.event_id = gone.id GROUP BY account_id
  ), forgotten AS (
    DELETE FROM erased_positions p USING passed WHERE p.account_id = passed.account_id AND p.position <= passed.position
  ), heads AS (
    SELECT h.account_id FROM event_feed_heads h JOIN passed USING (account_id) ORDER BY h.account_id FOR UPDATE OF h
  ), told AS (
    UPDATE event_feed_heads h SET dropped = greatest(h.dropped, p.position)
    FROM heads JOIN passed p USING (account_id) WHERE h.account_id = heads.account_id
  )
  SELECT id FROM gone`;

const emptyLane = `l.due_at IS NULL AND l.lease_token IS NULL AND NOT EXISTS (
  SELECT FROM deliveries d WHERE d.account_id = l.account_id AND d.lane_id = l.id)`;
const findLanes = `SELECT l.id FROM lanes l WHERE ${emptyLane} AND l.id > $1 ORDER BY l.id LIMIT $2`;
// A lane into which an event is being enqueued is locked, and kept.
const deleteLanes = `
  DELETE FROM lanes WHERE id IN (SELECT l.id FROM lanes l WHERE ${emptyLane} AND l.id = ANY ($1) FOR UPDATE SKIP LOCKED)
  RETURNING id`;

/** SQL: whether the bot is still to handle the event; the arguments are SQL. */
export function isPendingForBot({
  accountId,
  eventId,
  botId,
}: Record<'accountId' | 'eventId' | 'botId', string>): string {
  return `EXISTS (SELECT FROM deliveries d WHERE d.account_id = ${accountId} AND d.event_id = ${eventId}
    AND d.endpoint_kind = 'bot' AND d.endpoint_id = ${botId} AND d.state = 'pending')`;
}

/** Events whose last delivery ended more than `days` ago, or that are so old without one, in the order of their ids. */
export function findFinishedEvents(sql: Sql, days: number, { after, limit }: Page): Promise<Row[]> {
  return sql<Row>(findEvents, [days, after, limit]);
}

/**
 * Deletes those of the events that may still be deleted, with their deliveries and attempts; returns how many. Runs in the
 * caller's transaction.
 */
export async function deleteFinishedEvents(sql: Sql, days: number, ids: readonly number[]): Promise<number> {
  const lanes = (await sql<Row>(lockLanes, [ids])).map(({ id }) => id);
  const locked = await sql<Row>(lockEvents, [ids]);
  const deleted = await sql(deleteEvents, [days, locked.map(({ id }) => id), lanes]);
  if (lanes.length > 0) await sql(settleLanes, [lanes]);
  return deleted.length;
}

/** Idle lanes without any delivery, in the order of their ids. */
export function findEmptyLanes(sql: Sql, { after, limit }: Page): Promise<Row[]> {
  return sql<Row>(findLanes, [after, limit]);
}

/** Deletes those of the lanes that are still empty and not locked; returns how many. */
export async function deleteEmptyLanes(sql: Sql, ids: readonly number[]): Promise<number> {
  return (await sql(deleteLanes, [ids])).length;
}
