import { migrate } from '../postgres/migrate.ts';
import { withDatabase } from './with-database.ts';

/** The command `migrate`: applies the missing migrations and prints their names. */
export async function migrateDatabase(): Promise<void> {
  await withDatabase(async ({ databaseUrl }) => {
    const applied = await migrate(databaseUrl);
    console.log(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`);
  });
}
