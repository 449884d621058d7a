import { OperatorError } from '../lib/operator-error.ts';
import { databasePlace } from '../postgres/await-database.ts';
import { migrate } from '../postgres/migrate.ts';
import { hasRows, readTables } from './catalog.ts';
import { load, usedDatabase, type Loaded, type LoadOptions } from './load.ts';
import { withSession } from './session.ts';

const name = 'switchboard move';

/**
 * Throws OperatorError for a database that has rows, or tables that the one at `source` does not have. A database that a move
 * has only migrated is empty.
 */
export async function refuseUsedDatabase(url: string, source: string): Promise<void> {
  const known = await withSession({ url: source, name }, readTables);
  await withSession({ url, name }, async (client) => {
    const tables = (await readTables(client)).map((table) => table.name);
    const foreign = tables.find((table) => !known.some((one) => one.name === table));
    if (foreign !== undefined)
      throw new OperatorError(
        `The database at ${databasePlace(url)} has tables that are not of Switchboard, such as ${foreign}: move into an empty one.`,
      );
    if (await hasRows(client, tables)) throw usedDatabase(url);
  });
}

/** Fills an empty database with a backup. */
export async function loadInto(options: LoadOptions): Promise<Loaded> {
  await migrate(options.url);
  return load(options);
}
