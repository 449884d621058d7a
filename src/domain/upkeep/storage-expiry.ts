import type { Database } from '../../postgres/database.ts';
import { sweep } from './sweep.ts';

interface Expired {
  id: number;
}

const pageSize = 1_000;

/** Deletes values of bots that have expired; returns how many. One that fails does not hold back the others. */
export function deleteExpiredStorage(database: Database): Promise<number> {
  return sweep<Expired>(database, {
    name: 'deleting expired storage of bots',
    nameOf: ({ id }) => `value ${id}`,
    page: (after) =>
      database.sql<Expired>(
        `SELECT id FROM bot_storage WHERE expires_at <= $1 AND id > $2 ORDER BY id LIMIT ${pageSize}`,
        [database.clock.now(), after?.id ?? 0],
      ),
    pageSize,
    atOnce: pageSize,
    work: async (values) => {
      const ids = values.map(({ id }) => id);
      const deleted = await database.sql(
        'DELETE FROM bot_storage WHERE id = ANY ($1) AND expires_at <= $2 RETURNING id',
        [ids, database.clock.now()],
      );
      return deleted.length;
    },
  });
}
