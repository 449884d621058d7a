import { migrate } from '../../src/postgres/migrate.ts';
import { migrations } from '../../src/postgres/migrations/index.ts';
import { createDatabase } from './postgres.ts';

/** A new, empty database with the tables of release 0.1.0. Resolves with its URL. */
export async function createDatabaseOf010(): Promise<string> {
  const url = await createDatabase();
  await migrate(url, migrations.slice(0, 1));
  return url;
}
