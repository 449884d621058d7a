import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import { App } from './app.ts';
import { makeConsoleLink } from './start/console-link.ts';
import { frontDoors } from './front-doors.ts';
import { leavePass } from './start/service-pass-file.ts';
import type { Seeded } from './start/seed.ts';
import type { Config } from '../config.ts';
import { findDemoChat } from '../demo/furnish.ts';
import { databasePlace } from '../postgres/await-database.ts';
import type { EmbeddedPostgres } from '../postgres/embedded/start.ts';
import { systemRandom } from '../lib/ports.ts';
import type { StartPhases } from '../lib/start-phases.ts';
import type { Registry } from '../packages/registry.ts';
import { farewell, serviceUrl, welcome, welcomeToTerminal } from './start/welcome.ts';

/** Everything that a start has prepared before the service listens. */
export interface Prepared {
  config: Config;
  log: Logger;
  /** Null with DATABASE_URL. */
  embedded: EmbeddedPostgres | null;
  registry: Registry;
  /** The folders in which readings of plugins are kept. */
  keptIn: readonly string[];
  /** Plugins in folders are installed again whenever a file changes. */
  watchPlugins: boolean;
  /** The place of the database becomes the installation's home. */
  adopts: boolean;
  phases: StartPhases;
}

/** Runs the service until a signal shuts it down; resolves when it is ready and has printed its address. */
export async function serve(prepared: Prepared): Promise<void> {
  const { config, log, embedded, registry, keptIn, watchPlugins, adopts, phases } = prepared;
  const app = await phases.run(
    'composition',
    () =>
      App.create({
        config,
        databaseUrl: config.databaseUrl ?? embedded?.url ?? '',
        log,
        registry,
        keptIn,
        watchFolders: watchPlugins,
        adopts,
        phases,
      }),
    { after: ['settings', 'database', 'plugins', 'code'] },
  );
  const isStopping = endInOrder(app, { embedded, config, log });
  const url = serviceUrl(await app.listen());
  const seeded = await app.start().catch((error: unknown) => {
    if (!isStopping()) throw error;
    return null;
  });
  // A signal during the start has already begun the shutdown.
  if (isStopping()) return;
  await logStart(log, config, app);
  if (config.role !== 'engine') {
    // Built after the start: a page that is opened earlier waits for it.
    app.preparePages().catch((error: unknown) => log.error({ err: error }, 'pages not built'));
    const left = leavePass({ config, url }, { database: app.database, random: systemRandom });
    await left.catch((error: unknown) => log.warn({ err: error }, 'no pass left for commands'));
  }
  process.stdout.write(await phases.run('welcome', () => greeting(app, { config, url, seeded })));
  app.warmSandbox();
}

/** Returns the text that a start prints: its pages, and after the first one the token and a link that signs in. */
async function greeting(
  app: App,
  { config, url, seeded }: { config: Config; url: string; seeded: Seeded | null },
): Promise<string> {
  const consoleLink = seeded && config.role !== 'engine' ? await linkToConsole(app, { config, url }) : null;
  const chat = config.demo ? await findDemoChat(app.database.sql) : null;
  const doors = frontDoors({ config, url, consoleLink, chat });
  const print = process.stdout.isTTY ? welcomeToTerminal : welcome;
  return print({ config, url, seeded, consoleLink, heldFor: app.heldFor, doors });
}

function linkToConsole(app: App, { config, url }: { config: Config; url: string }): Promise<string | null> {
  const place = { url: config.publicUrl ?? url, email: null };
  return makeConsoleLink({ database: app.database, random: systemRandom }, place);
}

/**
 * Shuts the service down at the first signal, and ends it at once at the second. The result tells if it is stopping.
 */
function endInOrder(
  app: App,
  { embedded, config, log }: { embedded: EmbeddedPostgres | null; config: Config; log: Logger },
): () => boolean {
  let stopping = false;
  const delay = config.shutdownTimeoutMs;
  const options = {
    delay,
    logger: false as const,
    onSecondSignal: (signal: string) => log.warn({ signal }, 'ended at once by a second signal'),
    onTimeout: () => log.warn({ ...app.underWay(), timeout_ms: delay }, 'ended with work still under way'),
  };
  closeWithGrace(options, async ({ err, signal }) => {
    stopping = true;
    const begun = performance.now();
    const underWay = app.underWay();
    if (err) log.fatal({ err }, 'unexpected failure');
    log.info({ signal, ...underWay }, 'stopping');
    if (signal === 'SIGINT') process.stderr.write(farewell(underWay, delay));
    await app.stop();
    await embedded?.stop();
    log.info({ ms: Math.round(performance.now() - begun) }, 'stopped');
  });
  return () => stopping;
}

async function logStart(log: Logger, config: Config, app: App): Promise<void> {
  const database = config.databaseUrl === null ? 'embedded' : databasePlace(config.databaseUrl);
  const plugins = await app.plugins.list();
  log.info({ version: packageJson.version, role: config.role, database, plugins }, 'started');
}
