import { Client } from 'pg';
import { OperatorError } from '../lib/operator-error.ts';
import { databasePlace } from '../postgres/await-database.ts';
import { migrate } from '../postgres/migrate.ts';
import { readTables } from './catalog.ts';
import { incomplete } from './incomplete.ts';
import { load, type Loaded } from './load.ts';
import type { BackupReader } from './reader.ts';

/** Throws OperatorError for a database that is not empty; one that a move has only migrated is. */
export async function refuseUsedDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const names = (await readTables(client)).map(({ name }) => name);
    if (names.length === 0) return;
    const isOurs = names.includes('accounts') && names.includes('installation');
    const used = `SELECT EXISTS (SELECT FROM accounts) OR EXISTS (SELECT FROM installation) AS used`;
    if (isOurs && !(await client.query<{ used: boolean }>(used)).rows[0]?.used) return;
  } finally {
    await client.end().catch(() => undefined);
  }
  throw new OperatorError(`The database at ${databasePlace(url)} is not empty: move into one that is.`);
}

/** Fills an empty database with a backup. */
export async function loadInto(
  url: string,
  reader: BackupReader,
  progress: (part: number, text: string) => void,
): Promise<Loaded> {
  try {
    await migrate(url);
    return await load(url, reader, progress);
  } catch (error) {
    throw incomplete(error, 'move', 'The embedded database is as it was: move again.');
  }
}
