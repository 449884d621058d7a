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

/** How old rows of a table are found by pages, and deleted. */
interface Deletion {
  name: string;
  what: string;
  find: (page: { after: number; limit: number }) => Promise<Row[]>;
  remove: (ids: readonly number[]) => Promise<number>;
}

/**
 * Deletes events older than `days` with their deliveries, attempts and bot runs, and lanes that are then empty; events with
 * a pending delivery stay. Returns the number of events. A row that fails does not hold back the others.
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
