import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { takeBackBroken } from './broken-connections.ts';
import { migrations } from './migrations/index.ts';

/**
 * Applies the missing migrations to the database at `url`, or those among `wanted`. Returns the names of the applied
 * ones.
 */
export async function migrate(url: string, wanted = migrations): Promise<string[]> {
  const orm = new MikroORM({
    clientUrl: url,
    driverOptions: { onPoolCreated: takeBackBroken },
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    migrations: { tableName: 'migrations', migrationsList: wanted, snapshot: false, silent: true },
  });
  try {
    // Serializes processes that start at the same time; the lock lasts until the end of this transaction.
    return await orm.em.fork().transactional(async (em) => {
      await em.execute('SELECT pg_advisory_xact_lock(7237001)');
      const applied = await orm.migrator.up({ transaction: em.getTransactionContext() as never });
      return applied.map(({ name }) => name);
    });
  } finally {
    await orm.close(true);
  }
}
