import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { preparedFolder } from '../../src/app/project-root.ts';
import { migrate as migrateService } from '../../src/postgres/migrate.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/postgres/embedded/start.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { KeptClient } from './kept-client.ts';

type Migrate = (url: string) => Promise<unknown>;

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const insufficientPrivilege = '42501';
const migrated = new Map<Migrate, Promise<string>>();
const administratorIdleMs = 60_000;
let starting: Promise<EmbeddedPostgres> | null = null;
let administrator: KeptClient | null = null;

/** The Postgres of this test run, real and temporary; started by the first call. Fault tests use its `restart`. */
export function postgres(): Promise<EmbeddedPostgres> {
  const templates = join(preparedFolder, 'database');
  return (starting ??= startEmbeddedPostgres({ ephemeral: true, templates, log: silent }));
}

/** URL of the run's Postgres with a role that may create databases. */
async function databaseUrl(): Promise<string> {
  return (await postgres()).url;
}

/**
 * A new database; with `migrate`, a clone (about 50 ms) of one that was migrated once per run: of the cluster's own, which
 * `npm ci` has migrated, for the migrations of the service. Resolves with its URL.
 */
export async function createDatabase(migrate?: Migrate): Promise<string> {
  return migrate ? cloneDatabase(await templateOf(migrate)) : cloneDatabase('template1');
}

/** A copy of a database, to which nobody may be connected. Resolves with its URL. */
export function copyDatabase(url: string): Promise<string> {
  return cloneDatabase(nameOf(url));
}

/** Drops a database that createDatabase made, and its connections. */
export async function dropDatabase(url: string): Promise<void> {
  for (let triesLeft = 600; ; triesLeft -= 1) {
    try {
      return await administer(`DROP DATABASE IF EXISTS "${nameOf(url)}" WITH (FORCE)`);
    } catch (error) {
      // Server processes (autovacuum) cannot be terminated by a user; they finish in a moment.
      if ((error as { code?: string }).code !== insufficientPrivilege || triesLeft === 0) throw error;
      await sleep(100);
    }
  }
}

/** Stops the run's Postgres, if it was started. */
export async function stopPostgres(): Promise<void> {
  await administrator?.close();
  await (await starting)?.stop();
}

function templateOf(migrate: Migrate): Promise<string> {
  const existing = migrated.get(migrate);
  if (existing) return existing;
  const made = (migrate === migrateService ? databaseUrl() : cloneDatabase('template1')).then(async (url) => {
    await migrate(url);
    return nameOf(url);
  });
  migrated.set(migrate, made);
  return made;
}

async function cloneDatabase(template: string): Promise<string> {
  const name = `test_${systemRandom.uuid().replaceAll('-', '')}`;
  // Copying files is faster than writing their content to the WAL, since nothing is synced to disk.
  await administer(`CREATE DATABASE ${name} TEMPLATE "${template}" STRATEGY FILE_COPY`);
  const url = new URL(await databaseUrl());
  url.pathname = `/${name}`;
  return url.href;
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

async function administer(statement: string): Promise<void> {
  const url = new URL(await databaseUrl());
  // The service's own database is the template of others: nobody may be connected to it.
  url.pathname = '/postgres';
  administrator ??= new KeptClient(url.href, administratorIdleMs);
  await administrator.query(statement);
}
