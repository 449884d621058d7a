import type { Database } from '../../postgres/database.ts';
import { sql } from '../../postgres/sql.ts';
import { sweep } from './sweep.ts';

const pageSize = 1000;

interface Row {
  id: number;
}

// What is still to be delivered stays, whatever its age.
const deletableEvent = `e.created_at < now() - make_interval(days => $1) AND NOT EXISTS (
  SELECT FROM deliveries d WHERE d.account_id = e.account_id AND d.event_id = e.id AND d.state = 'pending')`;
const findEvents = `SELECT e.id FROM events e WHERE ${deletableEvent} AND e.id > $2 ORDER BY e.id LIMIT ${pageSize}`;
const deleteEvents = `DELETE FROM events e WHERE ${deletableEvent} AND e.id = ANY ($2) RETURNING e.id`;

const emptyLane = `l.due_at IS NULL AND l.lease_token IS NULL AND NOT EXISTS (
  SELECT FROM deliveries d WHERE d.account_id = l.account_id AND d.lane_id = l.id)`;
const findLanes = `SELECT l.id FROM lanes l WHERE ${emptyLane} AND l.id > $1 ORDER BY l.id LIMIT ${pageSize}`;
// A lane that an event is just entering is locked by that event's transaction, and stays.
const deleteLanes = `
  DELETE FROM lanes WHERE id IN (SELECT l.id FROM lanes l WHERE ${emptyLane} AND l.id = ANY ($1) FOR UPDATE SKIP LOCKED)
  RETURNING id`;

/** Which rows to delete: a statement each to find them and to delete them, and the parameters before their ids. */
interface Deletion {
  name: string;
  what: string;
  find: string;
  remove: string;
  parameters: readonly unknown[];
}

function deleteAll(database: Database, { name, what, find, remove, parameters }: Deletion): Promise<number> {
  return sweep<Row>(database, {
    name,
    nameOf: ({ id }) => `${what} ${id}`,
    page: (after) => sql<Row>(database.em(), find, [...parameters, after?.id ?? 0]),
    pageSize,
    atOnce: pageSize,
    work: async (rows) => {
      const deleted = await sql(database.em(), remove, [...parameters, rows.map(({ id }) => id)]);
      return deleted.length;
    },
  });
}

/**
 * Deletes events older than `days`, with their deliveries, attempts and bot runs, and the lanes that are empty then;
 * events with a delivery still to make stay. Answers how many events. One that cannot be deleted keeps back no other.
 */
export async function deleteOldEvents(database: Database, days: number): Promise<number> {
  const events = { name: 'deleting old events', what: 'event', find: findEvents, remove: deleteEvents };
  const lanes = { name: 'deleting empty lanes', what: 'lane', find: findLanes, remove: deleteLanes };
  const deleted = await deleteAll(database, { ...events, parameters: [days] });
  await deleteAll(database, { ...lanes, parameters: [] });
  return deleted;
}
