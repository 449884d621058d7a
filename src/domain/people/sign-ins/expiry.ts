import type { Database } from '../../../postgres/database.ts';
import { sweep } from '../../upkeep/sweep.ts';

const pageSize = 1000;

/** Deletes sign-ins and links that have expired, with what depends on them; returns how many. */
export function deleteExpiredSignIns(database: Database): Promise<number> {
  const now = database.clock.now();
  return sweep<{ id: number }>(database, {
    name: 'deleting expired sign-ins',
    nameOf: ({ id }) => String(id),
    page: (after) =>
      database.sql<{ id: number }>(
        `SELECT id FROM access_tokens WHERE expires_at <= $1 AND id > $2 ORDER BY id LIMIT ${pageSize}`,
        [now, after?.id ?? 0],
      ),
    pageSize,
    atOnce: pageSize,
    work: async (found) => {
      const deleted = await database.sql(
        'DELETE FROM access_tokens WHERE expires_at <= $1 AND id = ANY ($2) RETURNING id',
        [now, found.map(({ id }) => id)],
      );
      return deleted.length;
    },
  });
}
