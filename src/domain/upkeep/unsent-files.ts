import type { Database } from '../../postgres/database.ts';
import { sweep } from './sweep.ts';

interface Unsent {
  id: number;
  /** As text, in the database's precision. */
  created_at: string;
}

const pageSize = 100;
const atOnce = 10;

// Longer than a request lasts, by the clock that dated the rows.
const isOld = `message_id IS NULL AND created_at < now() - interval '1 hour'`;

const findUnsent = `
  SELECT id, created_at FROM attachments WHERE ${isOld} AND (created_at, id) > ($1::timestamptz, $2::bigint)
  ORDER BY created_at, id LIMIT ${pageSize}`;

/** Deletes files that were stored for a message that never was: their process ended, say. Returns how many. */
export function deleteUnsentFiles(database: Database): Promise<number> {
  return sweep<Unsent>(database, {
    name: 'deleting files without a message',
    nameOf: ({ id }) => `attachment ${id}`,
    page: (after) => database.sql<Unsent>(findUnsent, [after?.created_at ?? '-infinity', after?.id ?? 0]),
    pageSize,
    atOnce,
    work: async (files) => {
      const statement = `DELETE FROM attachments WHERE ${isOld} AND id = ANY ($1) RETURNING id`;
      return (await database.sql(statement, [files.map(({ id }) => id)])).length;
    },
  });
}
