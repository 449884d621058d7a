import type { ObjectStore } from '../../objects/object-store.ts';
import type { Database } from '../../postgres/database.ts';
import { sql } from '../../postgres/sql.ts';
import { sweep } from './sweep.ts';

interface Discarded {
  object_key: string;
  /** As text, in the database's precision. */
  discarded_at: string;
}

const pageSize = 100;
/** Days after which an object that the store did not delete is forgotten. */
const patienceDays = 30;

/** Deletes the objects of files that are gone; returns how many. One that the store does not delete is tried again for 30 days. */
export async function deleteDiscardedObjects(
  database: Database,
  objects: Pick<ObjectStore, 'remove'> | null,
): Promise<number> {
  await forgetOld(database);
  if (!objects) return 0;
  return sweep<Discarded>(database, {
    name: 'deleting objects of files',
    nameOf: ({ object_key: key }) => key,
    page: (after) =>
      sql<Discarded>(
        database.em(),
        `SELECT object_key, discarded_at FROM discarded_objects WHERE (discarded_at, object_key) > ($1::timestamptz, $2)
         ORDER BY discarded_at, object_key LIMIT ${pageSize}`,
        [after?.discarded_at ?? '-infinity', after?.object_key ?? ''],
      ),
    pageSize,
    atOnce: 1,
    work: async ([discarded]) => {
      if (!discarded) return 0;
      await objects.remove(discarded.object_key);
      await sql(database.em(), 'DELETE FROM discarded_objects WHERE object_key = $1', [discarded.object_key]);
      return 1;
    },
  });
}

async function forgetOld(database: Database): Promise<void> {
  const forgotten = await sql<{ object_key: string }>(
    database.em(),
    `DELETE FROM discarded_objects WHERE discarded_at < now() - make_interval(days => ${patienceDays}) RETURNING object_key`,
  );
  if (forgotten.length === 0) return;
  const [first] = forgotten;
  database.failed(
    new Error(`${forgotten.length} objects could not be deleted and are forgotten: ${first?.object_key ?? ''}, …`),
  );
}
