import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { takeBackBroken } from './broken-connections.ts';
import { migrations } from './migrations/index.ts';

/**
 * Brings the database at `url` up to date, or as far as `wanted` goes; answers the names of the migrations that were
 * applied.
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
    // Several processes may start at once; the lock is held to the end of this transaction.
    return await orm.em.fork().transactional(async (em) => {
      await em.execute('SELECT pg_advisory_xact_lock(7237001)');
      const applied = await orm.migrator.up({ transaction: em.getTransactionContext() as never });
      return applied.map(({ name }) => name);
    });
  } finally {
    await orm.close(true);
  }
}
