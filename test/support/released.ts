import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { migrations } from '../../src/migrations/index.ts';
import { createDatabase } from './postgres.ts';

/** A new database as release 0.1.0 made it, without any data. */
export function createReleasedDatabase(): Promise<string> {
  return createDatabase(migrateToRelease);
}

async function migrateToRelease(url: string): Promise<void> {
  const orm = new MikroORM({
    clientUrl: url,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    migrations: { tableName: 'migrations', migrationsList: migrations.slice(0, 1), snapshot: false, silent: true },
  });
  try {
    await orm.migrator.up();
  } finally {
    await orm.close(true);
  }
}
