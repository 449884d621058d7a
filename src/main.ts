import closeWithGrace from 'close-with-grace';
import { pino } from 'pino';
import { App } from './app.ts';
import { loadConfig, type Config } from './config.ts';
import { readDemoPass, writeDemoPass } from './demo-pass.ts';
import { startEmbeddedPostgres } from './lib/embedded-postgres.ts';
import type { Seeded } from './seed.ts';
import { serviceUrl, welcome } from './welcome.ts';

async function leaveDemoPass(config: Config, url: string, seeded: Seeded | null): Promise<void> {
  const token = seeded?.demoToken ?? readDemoPass(config.dataDir)?.token;
  if (config.demo && token) await writeDemoPass(config.dataDir, { url, token });
}

/** Starts the service as the environment configures it, and ends it in order when told to. */
export async function start(): Promise<void> {
  const config = loadConfig();
  const log = pino({ level: config.logLevel });
  const { dataDir, databaseStartTimeoutMs: timeoutMs } = config;
  const embedded = config.databaseUrl === null ? await startEmbeddedPostgres({ dataDir, timeoutMs, log }) : null;
  const app = await App.create({ config, databaseUrl: config.databaseUrl ?? embedded?.url ?? '', log });
  let stopping = false;
  closeWithGrace({ delay: config.shutdownTimeoutMs, logger: false }, async ({ err }) => {
    stopping = true;
    if (err) log.fatal({ err }, 'unexpected failure');
    await app.stop();
    await embedded?.stop();
  });
  for (const { directory, problems } of app.registry.broken) log.warn({ directory, problems }, 'plugin left out');
  const url = serviceUrl(await app.listen());
  const seeded = await app.start().catch((error: unknown) => {
    if (!stopping) throw error;
    return null;
  });
  // A start that was cut short by the end has nothing more to tell.
  if (stopping) return;
  await leaveDemoPass(config, url, seeded).catch((error: unknown) => log.warn({ err: error }, 'no demo pass left'));
  process.stdout.write(welcome({ config, url, seeded }));
}
