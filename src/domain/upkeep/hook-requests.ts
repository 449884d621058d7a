import type { Database } from '../../postgres/database.ts';
import { sweep } from './sweep.ts';

interface Old {
  id: number;
}

/** Senders repeat a request for up to a week: its id is known for longer. */
const keptDays = 8;
const pageSize = 500;
// Requests that wait stay longer: their bot may be repaired.
const deletable = `r.received_at < now() - make_interval(days => ${keptDays}) AND r.is_settled`;

/** Deletes requests of hooks older than eight days that are no longer to be handled; returns how many. */
export function deleteOldHookRequests(database: Database): Promise<number> {
  return sweep<Old>(database, {
    name: 'deleting old requests of hooks',
    nameOf: ({ id }) => `request ${id}`,
    page: (after) =>
      database.sql<Old>(
        `SELECT r.id FROM hook_requests r WHERE ${deletable} AND r.id > $1 ORDER BY r.id + 0 LIMIT ${pageSize}`,
        [after?.id ?? 0],
      ),
    pageSize,
    atOnce: pageSize,
    work: async (requests) => {
      const ids = requests.map(({ id }) => id);
      return (
        await database.sql(`DELETE FROM hook_requests r WHERE ${deletable} AND r.id = ANY ($1) RETURNING r.id`, [ids])
      ).length;
    },
  });
}
