import { ObjectStoreError, type ObjectStore } from '../../objects/object-store.ts';
import type { Database } from '../../postgres/database.ts';
import { sweep } from './sweep.ts';

interface Discarded {
  object_key: string;
  /** As text, in the database's precision. */
  discarded_at: string;
}

type Store = Pick<ObjectStore, 'remove'>;

const pageSize = 100;
/** Days after which an object that the store did not delete is forgotten. */
const patienceDays = 30;
/** The longest sweep, but for its last object; the next one goes on. */
const longestMs = 30_000;

/**
 * Deletes the objects of files that are gone; returns how many. One that the store refuses to delete is tried again for 30 days.
 * A store that does not answer is asked for nothing else, and left alone for a time that grows from 10 s to an hour.
 */
export async function deleteDiscardedObjects(database: Database, objects: Store | null): Promise<number> {
  await forgetOld(database);
  if (!objects) return 0;
  return sweep<Store>(database, {
    name: 'deleting objects of files',
    nameOf: () => 'the object store',
    page: (after) => Promise.resolve(after ? [] : [objects]),
    pageSize: 1,
    atOnce: 1,
    work: async ([store]) => (store ? deleteSome(database, store) : 0),
  });
}

function deleteSome(database: Database, objects: Store): Promise<number> {
  const end = performance.now() + longestMs;
  return sweep<Discarded>(database, {
    name: 'deleting objects of files',
    nameOf: ({ object_key: key }) => key,
    page: async (after) => (performance.now() < end ? findDue(database, after) : []),
    pageSize,
    atOnce: 1,
    work: async ([discarded]) => {
      if (!discarded || performance.now() > end) return 0;
      await objects.remove(discarded.object_key);
      await database.sql('DELETE FROM discarded_objects WHERE object_key = $1', [discarded.object_key]);
      return 1;
    },
    ends: (error) => error instanceof ObjectStoreError && error.isOutage,
  });
}

// Objects that may still be on their way into the store are due later: see discardLater.
function findDue(database: Database, after: Discarded | null): Promise<Discarded[]> {
  return database.sql<Discarded>(
    `SELECT object_key, discarded_at FROM discarded_objects
     WHERE discarded_at <= now() AND (discarded_at, object_key) > ($1::timestamptz, $2)
     ORDER BY discarded_at, object_key LIMIT ${pageSize}`,
    [after?.discarded_at ?? '-infinity', after?.object_key ?? ''],
  );
}

async function forgetOld(database: Database): Promise<void> {
  const forgotten = await database.sql<{ object_key: string }>(
    `DELETE FROM discarded_objects WHERE discarded_at < now() - make_interval(days => ${patienceDays}) RETURNING object_key`,
  );
  if (forgotten.length === 0) return;
  const [first] = forgotten;
  database.failed(
    new Error(`${forgotten.length} objects could not be deleted and are forgotten: ${first?.object_key ?? ''}, …`),
  );
}
