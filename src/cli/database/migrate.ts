import { migrate, tellWait } from '../../postgres/migrate.ts';
import { migrations } from '../../postgres/migrations/index.ts';
import { withDatabase } from './with-database.ts';

/** The command `migrate`: applies the missing migrations and prints their names. */
export async function migrateDatabase(): Promise<void> {
  await withDatabase(async ({ config, databaseUrl, log }) => {
    const wait = { timeoutMs: config.databaseStartTimeoutMs, waiting: tellWait({ log }) };
    const applied = await migrate(databaseUrl, migrations, wait);
    console.log(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`);
  });
}
