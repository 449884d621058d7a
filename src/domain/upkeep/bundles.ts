import type { Database } from '../../postgres/database.ts';
import { sweep } from './sweep.ts';

const limit = 100;

// A run that was in progress when its version was released is recorded within this time.
const deletable = `b.released_at < now() - interval '1 hour'
  AND NOT EXISTS (SELECT FROM bot_runs r WHERE r.bundle_hash = b.hash)`;

interface Row {
  hash: string;
}

/** Deletes the code of released versions to which no run refers any more; returns how many. */
export function deleteReleasedBundles(database: Database): Promise<number> {
  return sweep<Row>(database, {
    name: 'deleting released code of plugins',
    nameOf: ({ hash }) => `bundle ${hash}`,
    page: (after) =>
      database.sql<Row>(
        `SELECT b.hash FROM plugin_bundles b WHERE ${deletable} AND b.hash > $1 ORDER BY b.hash LIMIT $2`,
        [after?.hash ?? '', limit],
      ),
    pageSize: limit,
    atOnce: limit,
    work: async (rows) => {
      const statement = `DELETE FROM plugin_bundles b WHERE ${deletable} AND b.hash = ANY ($1) RETURNING b.hash`;
      return (await database.sql<Row>(statement, [rows.map(({ hash }) => hash)])).length;
    },
  });
}
