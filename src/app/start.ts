import { findPrincipal } from '../domain/people/identity.ts';
import { opensSecrets } from '../domain/platform/sealed-word.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { hashToken } from '../lib/tokens.ts';
import { whenDatabaseAnswers } from '../postgres/await-database.ts';
import { migrate } from '../postgres/migrate.ts';
import type { Parts } from './compose.ts';
import { reloadOnChange } from './hot-reload.ts';
import { installFolderPlugins } from './install-folders.ts';
import { seed, type Seeded } from './seed.ts';
import { warnOfStrandedBots } from './stranded-bots.ts';

/**
 * Migrates, seeds and starts the engine, and waits while the database is unreachable. Requests are refused until the
 * start has completed. Throws OperatorError for what the operator can fix.
 */
export async function start(parts: Parts): Promise<Seeded | null> {
  const { options, databases, log, sharedClock, warn, phase } = parts;
  const database = databases.requests;
  const seeded = await whenDatabaseIsThere(parts, async () => {
    await migrate(options.databaseUrl);
    await sharedClock.follow(() => database.time(), warn);
    await checkSecretKey(parts);
    await installPlugins(parts);
    return seedOnce(parts);
  });
  await whenDatabaseIsThere(parts, () => warnOfStrandedBots(database, log));
  parts.wakes.listen();
  if (parts.servesEngine) {
    parts.plugins.start();
    parts.engine.start();
    parts.feed.start();
    await whenDatabaseIsThere(parts, () => parts.alarms.start());
  }
  if (!seeded) await checkBootstrapToken(parts);
  if (options.watchFolders) phase.endReload = reloadOnChange(parts);
  phase.started = true;
  return seeded;
}

function whenDatabaseIsThere<Result>(
  { options, config, warn, phase }: Parts,
  work: () => Promise<Result>,
): Promise<Result> {
  const timeoutMs = config.databaseStartTimeoutMs;
  return whenDatabaseAnswers(
    { url: options.databaseUrl, timeoutMs, failed: warn, stopped: () => !phase.accepting },
    work,
  );
}

async function installPlugins({ databases, registry, log, phase }: Parts): Promise<void> {
  phase.leftOut = await installFolderPlugins(databases.requests, registry);
  for (const { directory, problems } of phase.leftOut) log.warn({ directory, problems }, 'plugin left out');
}

function seedOnce({ databases, random, config }: Parts): Promise<Seeded | null> {
  const { bootstrapAdminToken: adminToken, demo } = config;
  return seed({ database: databases.requests, random, adminToken, demo });
}

// With a different key every delivery would fail silently.
async function checkSecretKey({ databases, secretBox }: Parts): Promise<void> {
  if (await opensSecrets(databases.requests.em(), secretBox)) return;
  throw new OperatorError(
    'The secrets in this database were sealed with another SECRET_KEY (on the embedded database: DATA_DIR/secret-key). Start with that one.',
  );
}

// BOOTSTRAP_ADMIN_TOKEN has an effect at the first start only: set later, the token would be answered 401.
async function checkBootstrapToken({ config, databases, log }: Parts): Promise<void> {
  const { bootstrapAdminToken: token } = config;
  if (token === null || (await findPrincipal(databases.requests.em(), hashToken(token)))) return;
  log.warn(
    'BOOTSTRAP_ADMIN_TOKEN is no access token of this database, which has its administrators already: remove it, or make a token with `npx switchboard token`',
  );
}
