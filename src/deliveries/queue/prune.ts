import { sql, type Executor } from '../../postgres/sql.ts';

interface Row {
  id: number;
}

/** Where a page of rows begins, and how long it is at most. */
interface Page {
  after: number;
  limit: number;
}

// An event with a pending delivery stays, whatever its age.
const deletableEvent = `e.created_at < now() - make_interval(days => $1) AND NOT EXISTS (
  SELECT FROM deliveries d WHERE d.account_id = e.account_id AND d.event_id = e.id AND d.state = 'pending')`;
const findEvents = `SELECT e.id FROM events e WHERE ${deletableEvent} AND e.id > $2 ORDER BY e.id LIMIT $3`;
const deleteEvents = `DELETE FROM events e WHERE ${deletableEvent} AND e.id = ANY ($2) RETURNING e.id`;

const emptyLane = `l.due_at IS NULL AND l.lease_token IS NULL AND NOT EXISTS (
  SELECT FROM deliveries d WHERE d.account_id = l.account_id AND d.lane_id = l.id)`;
const findLanes = `SELECT l.id FROM lanes l WHERE ${emptyLane} AND l.id > $1 ORDER BY l.id LIMIT $2`;
// A lane that an event is just entering is locked by that event's transaction, and stays.
const deleteLanes = `
  DELETE FROM lanes WHERE id IN (SELECT l.id FROM lanes l WHERE ${emptyLane} AND l.id = ANY ($1) FOR UPDATE SKIP LOCKED)
  RETURNING id`;

/** Events older than `days` with no delivery still to make, in the order of their ids. */
export function findFinishedEvents(executor: Executor, days: number, { after, limit }: Page): Promise<Row[]> {
  return sql<Row>(executor, findEvents, [days, after, limit]);
}

/** Deletes those of the events of which the same is still true, with all that hangs on them; answers how many. */
export async function deleteFinishedEvents(executor: Executor, days: number, ids: readonly number[]): Promise<number> {
  return (await sql(executor, deleteEvents, [days, ids])).length;
}

/** Lanes that are idle and hold no delivery, of whatever state, in the order of their ids. */
export function findEmptyLanes(executor: Executor, { after, limit }: Page): Promise<Row[]> {
  return sql<Row>(executor, findLanes, [after, limit]);
}

/** Deletes those of the lanes that are still empty, and that nobody has locked; answers how many. */
export async function deleteEmptyLanes(executor: Executor, ids: readonly number[]): Promise<number> {
  return (await sql(executor, deleteLanes, [ids])).length;
}
