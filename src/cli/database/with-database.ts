import type { Logger } from 'pino';
import { loadConfig, type Config } from '../../config.ts';
import { openDatabases } from '../../app/parts/connections.ts';
import type { Database } from '../../postgres/database.ts';
import { reasonOf, whenDatabaseAnswers } from '../../postgres/await-database.ts';
import { checkServer } from '../../postgres/check-server.ts';
import { startEmbeddedPostgres } from '../../postgres/embedded/start.ts';
import { hasDatabase, runningPostgresUrl } from '../../postgres/embedded/running.ts';
import { createLog } from '../../lib/log.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { SharedClock } from '../../lib/shared-clock.ts';

/** The settings, the URL of the configured or embedded database, and a log, for a command. */
export interface CommandContext {
  config: Config;
  databaseUrl: string;
  log: Logger;
}

/**
 * Calls `work` with the configured database, or starts the embedded one for it. With `besideService`, a service may
 * already be running on the embedded database (otherwise an error), and a missing database is an error instead of being
 * created. Throws OperatorError.
 */
export async function withDatabase(
  work: (context: CommandContext) => Promise<void>,
  { besideService = false }: { besideService?: boolean } = {},
): Promise<void> {
  const config = loadConfig();
  const log = createLog(config.logLevel);
  const { dataDir, databaseStartTimeoutMs: timeoutMs } = config;
  const url = config.databaseUrl ?? (besideService ? runningPostgresUrl(dataDir) : null);
  if (url !== null) {
    // Beside a service that runs there is nothing to wait for.
    await whenDatabaseAnswers(
      { url, timeoutMs: besideService ? 0 : timeoutMs, failed: tellOutage(log), stopped: () => false },
      () => checkServer(url, config, { onlyReads: besideService }),
    );
    return work({ config, databaseUrl: url, log });
  }
  if (besideService && !hasDatabase(dataDir)) {
    throw new OperatorError(
      `There is no database in ${dataDir}: call this with the DATA_DIR, or the DATABASE_URL, of the service.`,
    );
  }
  const embedded = await startEmbeddedPostgres({ dataDir, timeoutMs, log });
  try {
    await work({ config, databaseUrl: embedded.url, log });
  } finally {
    await embedded.stop();
  }
}

function tellOutage(log: Logger): (error: unknown) => void {
  return (error) => log.debug({ reason: reasonOf(error) }, 'database unavailable');
}

/** Calls `work` with a pool of connections to the command's database: with `isPatient`, one that waits for locked rows. */
export async function openDatabase(
  { config, databaseUrl, log }: CommandContext,
  work: (database: Database) => Promise<void>,
  { isPatient = false }: { isPatient?: boolean } = {},
): Promise<void> {
  const clock = new SharedClock();
  const databases = openDatabases({ config, url: databaseUrl, clock, log });
  const database = isPatient ? databases.engine : databases.requests;
  try {
    await clock.measure(() => database.time());
    await work(database);
  } finally {
    await database.close();
  }
}
