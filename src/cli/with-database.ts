import { pino, type Logger } from 'pino';
import { loadConfig, type Config } from '../config.ts';
import { startEmbeddedPostgres } from '../lib/embedded-postgres.ts';

/** What a command works with: the settings, the URL of the configured or embedded database, and a log. */
export interface CommandContext {
  config: Config;
  databaseUrl: string;
  log: Logger;
}

/** Does the work on the configured database; the embedded one runs as long as that takes. */
export async function withDatabase(work: (context: CommandContext) => Promise<void>): Promise<void> {
  const config = loadConfig();
  const log = pino({ level: config.logLevel });
  if (config.databaseUrl !== null) return work({ config, databaseUrl: config.databaseUrl, log });
  const { dataDir, databaseStartTimeoutMs: timeoutMs } = config;
  const embedded = await startEmbeddedPostgres({ dataDir, timeoutMs, log });
  try {
    await work({ config, databaseUrl: embedded.url, log });
  } finally {
    await embedded.stop();
  }
}
