import { setTimeout as wait } from 'node:timers/promises';
import { MikroORM, type EntityManager } from '@mikro-orm/postgresql';
import { Client } from 'pg';
import type { Logger } from 'pino';
import { OperatorError } from '../lib/operator-error.ts';
import { databasePlace, reasonOf } from './await-database.ts';
import { takeBackBroken } from './broken-connections.ts';
import { isLockTimeout, isRetryable } from './errors.ts';
import { appliedMigrations, migrations, refuseUnknown } from './migrations/index.ts';
import { schemaChannel } from './wake-calls.ts';

/** How long a migration waits for locks, and who hears of it. */
export interface MigrationWait {
  /** Milliseconds after which a migration that gets no locks ends with an OperatorError. */
  timeoutMs?: number;
  /** Called with the error of each attempt that got no locks. */
  waiting?: (error: unknown) => void;
}

// Requests wait behind a wait for their tables: a short one that fails disturbs nobody. A long one outlasts transactions that
// are long themselves, and the second after which PostgreSQL ends an autovacuum that is in the way.
const [firstLockMs, longestLockMs] = [500, 4_000];
const pauseMs = 500;
const defaultTimeoutMs = 60_000;

// PostgreSQL ends a deadlock by failing the one that looks for it first, and a migration waits for locks before requests wait for
// it: it would fail again and again beside busy ones, which repeat their work. Not every role may set it.
const givesWayLast = `
  SELECT set_config('deadlock_timeout', '${2 * longestLockMs}ms', true)
  WHERE (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)`;

const undefinedTable = '42P01';

/**
 * Applies the missing migrations to the database at `url`, or those among `wanted`, in one transaction, which is repeated
 * while other processes hold locks that it needs. Returns the names of the applied ones. Throws OperatorError if the database
 * has migrations that this release does not know, or if the locks are not free within `timeoutMs`.
 */
export async function migrate(
  url: string,
  wanted = migrations,
  { timeoutMs = defaultTimeoutMs, waiting = () => undefined }: MigrationWait = {},
): Promise<string[]> {
  if (await isUpToDate(url, wanted)) return [];
  const until = performance.now() + timeoutMs;
  for (let lockMs = firstLockMs; ; lockMs = Math.min(longestLockMs, 2 * lockMs)) {
    try {
      return await migrateOnce(url, wanted, lockMs);
    } catch (error) {
      if (!isLockTimeout(error) && !isRetryable(error)) throw error;
      if (performance.now() >= until) {
        throw new OperatorError(
          `The database at ${databasePlace(url)} could not be migrated within ${timeoutMs / 1000} s, because other processes ` +
            'hold locks in it: another migration, or long transactions. Nothing was changed. End them and try again, or wait ' +
            'longer with DATABASE_START_TIMEOUT_MS.',
        );
      }
      waiting(error);
      await wait(pauseMs);
    }
  }
}

/** Returns a `waiting` that writes a line to the log. */
export function tellWait({ log }: { log: Pick<Logger, 'info'> }): (error: unknown) => void {
  return (error) => log.info({ reason: reasonOf(error) }, 'migration waits for locks of other processes');
}

async function migrateOnce(url: string, wanted: typeof migrations, lockMs: number): Promise<string[]> {
  const { Migrator } = await import('@mikro-orm/migrations');
  const orm = new MikroORM({
    clientUrl: url,
    driverOptions: { onPoolCreated: takeBackBroken },
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    migrations: { tableName: 'migrations', migrationsList: wanted, snapshot: false, silent: true },
  });
  try {
    return await orm.em.fork().transactional(async (em) => {
      // Roles may have a statement_timeout of their own, made for requests.
      await em.execute(`SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = 0`);
      await em.execute(givesWayLast);
      // Serializes processes that start at the same time; the lock lasts until the end of this transaction.
      await em.execute('SELECT pg_advisory_xact_lock(7237001)');
      const applied = await appliedMigrations((text) => em.execute(text));
      refuseUnknown(applied, wanted);
      if (wanted.every(({ name }) => applied.includes(name))) return [];
      await lockTables(em);
      const added = await orm.migrator.up({ transaction: em.getTransactionContext() as never });
      await em.execute(`NOTIFY ${schemaChannel}`);
      return added.map(({ name }) => name);
    });
  } finally {
    await orm.close(true);
  }
}

// All at once, before anything is changed: migrations lock tables in an order of their own, and requests that join several of
// them would wait for one and hold another. Access tokens come first, so that new requests wait before they hold anything. The
// list of migrations stays readable, for readiness checks.
async function lockTables(em: EntityManager): Promise<void> {
  const tables = await em.execute<{ name: string }[]>(
    `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'migrations'
       AND pg_has_role(tableowner, 'MEMBER') ORDER BY tablename <> 'access_tokens', tablename`,
  );
  if (tables.length === 0) return;
  await em.execute(`LOCK TABLE ${tables.map(({ name }) => name).join(', ')} IN ACCESS EXCLUSIVE MODE`);
}

/** Whether the applied migrations are exactly the wanted ones. */
async function isUpToDate(url: string, wanted: typeof migrations): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ name: string }>(`SELECT name FROM migrations`);
    const applied = new Set(rows.map(({ name }) => name));
    return applied.size === wanted.length && wanted.every(({ name }) => applied.has(name));
  } catch (error) {
    if ((error as { code?: string }).code === undefinedTable) return false;
    throw error;
  } finally {
    await client.end();
  }
}
