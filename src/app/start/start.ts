import { findPrincipal } from '../../domain/people/identity.ts';
import { hashToken } from '../../lib/secrets/tokens.ts';
import { StartPhases, type PhaseOptions } from '../../lib/start-phases.ts';
import { reasonOf, whenDatabaseAnswers } from '../../postgres/await-database.ts';
import { checkServer } from '../../postgres/check-server.ts';
import { isOutage } from '../../postgres/errors.ts';
import { migrate, tellWait } from '../../postgres/migrate.ts';
import { migrations } from '../../postgres/migrations/index.ts';
import { checkSecretKey } from './check-secret-key.ts';
import type { Parts } from '../compose.ts';
import { reloadOnChange } from '../hot-reload.ts';
import { installFolderPlugins } from './install-folders.ts';
import { furnishingOf, seed, type Seeded } from './seed.ts';
import { warnOfStrandedBots } from './stranded-bots.ts';

/**
 * Migrates, seeds and starts the engine, and waits while the database is unreachable. Requests are refused until the
 * start has completed. Throws OperatorError for what the operator can fix.
 */
export async function start(parts: Parts): Promise<Seeded | null> {
  const { options, config, databases, log, sharedClock, warn, phase } = parts;
  const database = databases.requests;
  const { databaseUrl: url, phases = new StartPhases(() => undefined) } = options;
  const timeoutMs = config.databaseStartTimeoutMs;
  // Each step is repeated for itself: what other processes hold up takes no work that was done back.
  const step = <Result>(name: string, work: () => Promise<Result>, described?: PhaseOptions): Promise<Result> =>
    phases.run(name, () => whenDatabaseIsThere(parts, work), described);
  await step('server', () => checkServer(url, config), {
    sentence: 'Waiting for the database …',
    after: ['composition'],
  });
  await step('migrations', () => migrate(url, migrations, { timeoutMs, waiting: tellWait(parts) }), {
    sentence: 'Migrating the database …',
    after: ['server'],
  });
  await whenDatabaseIsThere(parts, () => sharedClock.follow(() => database.time(), warn));
  await whenDatabaseIsThere(parts, () => checkSecretKey(database, parts.secretBox));
  await whenDatabaseIsThere(parts, () => (options.adopts ? parts.home.adopt() : parts.home.look()));
  await step('installing plugins', () => installPlugins(parts), {
    sentence: 'Installing the plugins …',
    after: ['migrations'],
  });
  const seeded = await step('first account', () => seedOnce(parts), { after: ['installing plugins'] });
  await whenDatabaseIsThere(parts, () => warnOfStrandedBots(database, log));
  // Before the engine, which posts to it.
  await parts.receiver?.listen();
  parts.wakes.listen();
  if (parts.servesEngine) {
    parts.plugins.start();
    parts.engine.start();
    parts.feed.start();
    await whenDatabaseIsThere(parts, () => parts.embedder.start());
    await whenDatabaseIsThere(parts, () => parts.alarms.start());
  }
  if (!seeded) await checkBootstrapToken(parts);
  if (options.watchFolders) phase.endReload = reloadOnChange(parts);
  phase.started = true;
  return seeded;
}

function whenDatabaseIsThere<Result>(
  { options, config, log, warn, phase }: Parts,
  work: () => Promise<Result>,
): Promise<Result> {
  const timeoutMs = config.databaseStartTimeoutMs;
  const failed = (error: unknown): void => {
    if (isOutage(error)) warn(error);
    else log.info({ reason: reasonOf(error) }, 'the start waits for another process');
  };
  return whenDatabaseAnswers({ url: options.databaseUrl, timeoutMs, failed, stopped: () => !phase.accepting }, work);
}

async function installPlugins({ databases, registry, secretBox, log, phase }: Parts): Promise<void> {
  phase.leftOut = await installFolderPlugins(databases.requests, registry, { seal: secretBox.seal });
  for (const { directory, problems } of phase.leftOut) log.warn({ directory, problems }, 'plugin left out');
}

function seedOnce({ options, databases, random, secretBox, config }: Parts): Promise<Seeded | null> {
  const { bootstrapAdminToken: adminToken } = config;
  const furnishing = options.furnishing ?? furnishingOf(config, { random, secretBox });
  return seed({ database: databases.requests, random, adminToken, furnishing });
}

// BOOTSTRAP_ADMIN_TOKEN has an effect at the first start only: set later, the token would be answered 401.
async function checkBootstrapToken({ config, databases, log }: Parts): Promise<void> {
  const { bootstrapAdminToken: token } = config;
  if (token === null || (await findPrincipal(databases.requests.sql, hashToken(token)))) return;
  log.warn(
    'BOOTSTRAP_ADMIN_TOKEN is no access token of this database, which has its administrators already: remove it, or make a token with `npx switchboard token`',
  );
}
