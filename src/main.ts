import closeWithGrace from 'close-with-grace';
import { pino } from 'pino';
import { App } from './app.ts';
import { loadConfig } from './config.ts';
import { startEmbeddedPostgres } from './lib/embedded-postgres.ts';
import { welcome } from './welcome.ts';

/** Starts the service as the environment configures it, and ends it in order when told to. */
export async function start(): Promise<void> {
  const config = loadConfig();
  const log = pino({ level: config.logLevel });
  const embedded = config.databaseUrl === null ? await startEmbeddedPostgres({ dataDir: config.dataDir, log }) : null;
  const app = await App.create({ config, databaseUrl: config.databaseUrl ?? embedded?.url ?? '', log });
  closeWithGrace({ delay: config.shutdownTimeoutMs, logger: false }, async ({ err }) => {
    if (err) log.fatal({ err }, 'unexpected failure');
    await app.stop();
    await embedded?.stop();
  });
  for (const { directory, problems } of app.registry.broken) log.warn({ directory, problems }, 'plugin left out');
  const address = await app.listen();
  const seeded = await app.start();
  process.stdout.write(welcome({ config, address, seeded }));
}
