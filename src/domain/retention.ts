import type { Database } from '../database.ts';
import { sql } from '../lib/sql.ts';

const batch = 1000;

const deleteEvents = `
  DELETE FROM events WHERE id IN (
    SELECT e.id FROM events e WHERE e.created_at < now() - make_interval(days => $1) AND NOT EXISTS (
      SELECT FROM deliveries d WHERE d.account_id = e.account_id AND d.event_id = e.id AND d.state = 'pending')
    ORDER BY e.id LIMIT ${batch})
  RETURNING id`;

// A lane that an event is just entering is locked by that event's transaction, and stays.
const deleteEmptyLanes = `
  DELETE FROM lanes WHERE id IN (
    SELECT l.id FROM lanes l WHERE l.due_at IS NULL AND l.lease_token IS NULL AND NOT EXISTS (
      SELECT FROM deliveries d WHERE d.account_id = l.account_id AND d.lane_id = l.id)
    LIMIT ${batch} FOR UPDATE SKIP LOCKED)
  RETURNING id`;

async function inBatches(database: Database, statement: string, parameters: readonly unknown[]): Promise<number> {
  for (let deleted = 0; ;) {
    const rows = await sql(database.em(), statement, parameters);
    deleted += rows.length;
    if (rows.length < batch) return deleted;
  }
}

/**
 * Deletes events older than `days`, with their deliveries, attempts and bot runs, and the lanes that are empty then;
 * events with a delivery still to make stay. Answers how many events.
 */
export async function deleteOldEvents(database: Database, days: number): Promise<number> {
  const deleted = await inBatches(database, deleteEvents, [days]);
  await inBatches(database, deleteEmptyLanes, []);
  return deleted;
}
