import type { Database } from '../../postgres/database.ts';
import {
  deleteEmptyLanes,
  deleteFinishedEvents,
  findEmptyLanes,
  findFinishedEvents,
} from '../../deliveries/queue/prune.ts';
import { sweep } from './sweep.ts';

const limit = 1000;

interface Row {
  id: number;
}

/** Which rows to delete: how a page of them is found, and how they are deleted. */
interface Deletion {
  name: string;
  what: string;
  find: (page: { after: number; limit: number }) => Promise<Row[]>;
  remove: (ids: readonly number[]) => Promise<number>;
}

function deleteAll(database: Database, { name, what, find, remove }: Deletion): Promise<number> {
  return sweep<Row>(database, {
    name,
    nameOf: ({ id }) => `${what} ${id}`,
    page: (after) => find({ after: after?.id ?? 0, limit }),
    pageSize: limit,
    atOnce: limit,
    work: (rows) => remove(rows.map(({ id }) => id)),
  });
}

/**
 * Deletes events older than `days`, with their deliveries, attempts and bot runs, and the lanes that are empty then;
 * events with a delivery still to make stay. Answers how many events. One that cannot be deleted keeps back no other.
 */
export async function deleteOldEvents(database: Database, days: number): Promise<number> {
  const deleted = await deleteAll(database, {
    name: 'deleting old events',
    what: 'event',
    find: (page) => findFinishedEvents(database.em(), days, page),
    remove: (ids) => deleteFinishedEvents(database.em(), days, ids),
  });
  await deleteAll(database, {
    name: 'deleting empty lanes',
    what: 'lane',
    find: (page) => findEmptyLanes(database.em(), page),
    remove: (ids) => deleteEmptyLanes(database.em(), ids),
  });
  return deleted;
}
