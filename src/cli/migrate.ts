import { migrate } from '../postgres/migrate.ts';
import { withDatabase } from './with-database.ts';

/** Brings the configured database up to date and says what was applied. */
export async function migrateDatabase(): Promise<void> {
  await withDatabase(async ({ databaseUrl }) => {
    const applied = await migrate(databaseUrl);
    console.log(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`);
  });
}
