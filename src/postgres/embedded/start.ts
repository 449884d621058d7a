import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareBinaries } from './binaries.ts';
import { changePassword, createCluster, hasCluster, serviceName } from './cluster.ts';
import { EmbeddedPostgresError } from './error.ts';
import { clusterFolder, createEphemeralHome, findHome, type Home } from './home.ts';
import { endLeftover, type StopMode } from './process.ts';
import { launchServer, type Log } from './server.ts';
import { Supervisor } from './supervisor.ts';
import { templateIn } from './template.ts';
import { tryLock } from './file-lock.ts';
import { refuseUnfinished } from './unfinished.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { createPrivateFolder, readOrCreateSecretFile } from '../../lib/secrets/secret-file.ts';
import { systemRandom } from '../../lib/ports.ts';

/** The settings of an embedded PostgreSQL. */
export interface EmbeddedPostgresOptions {
  /** The folder of the data, password and lock; created if missing. Without it, the database is ephemeral. */
  dataDir?: string;
  /** For tests: the data is in a temporary folder, need not survive a crash, and is deleted on stop. */
  ephemeral?: boolean;
  /** The loopback port; by default a free one at each start. */
  port?: number;
  /** The longest time for each step of the start, in milliseconds. */
  timeoutMs?: number;
  /** The folder with bin, lib and share of PostgreSQL; by default in the installed package. */
  nativeFolder?: string;
  /** The folder with the template of new databases, see template.ts. */
  templates?: string;
  /** Whether a restore starts it, which alone may use a folder before the restore has completed. */
  restores?: boolean;
  log: Log;
}

/** A PostgreSQL that this process runs. */
export interface EmbeddedPostgres {
  /** The connection URL of the service's role; it contains the password, so it is a secret. */
  url: string;
  /** The process id of the server, which changes with a restart. */
  pid(): number;
  /** Ends the server and unlocks the data. Further calls have no effect. */
  stop(): Promise<void>;
  /** Ends the server and, after `downtimeMs`, starts it again on the same port. */
  restart(mode?: StopMode, downtimeMs?: number): Promise<void>;
}

const startTimeoutMs = 60_000;
// The start waits this long for the lock of a service that is stopping or was just killed.
const lockAttempts = 30;
const lockRetryMs = 100;

/**
 * Starts PostgreSQL from the installed package; the first start in a DATA_DIR creates the database. Ends a server that
 * a killed service left running. Throws EmbeddedPostgresError, with advice, if another process uses the data, another
 * major version created it, or no system user can run the server.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const ephemeral = options.ephemeral ?? options.dataDir === undefined;
  const dataDir = resolve(options.dataDir ?? '.data');
  if (!ephemeral && !options.restores) refuseUnfinished(dataDir);
  const locked = ephemeral ? ephemeralHome() : await lastingHome(dataDir);
  try {
    return await startIn(locked, ephemeral, options);
  } catch (error) {
    locked.leave();
    throw error;
  }
}

/** A locked home. */
interface LockedHome {
  home: Home;
  /** The password of the service's role. */
  password: string;
  /** True if the password was just created: existing data has another one. */
  passwordIsNew: boolean;
  leave: () => void;
}

function ephemeralHome(): LockedHome {
  const home = createEphemeralHome();
  const password = systemRandom.bytes(16).toString('hex');
  return { home, password, passwordIsNew: false, leave: () => rmSync(home.path, { recursive: true, force: true }) };
}

async function lastingHome(dataDir: string): Promise<LockedHome> {
  const held: (() => void)[] = [];
  const leave = (): void => held.splice(0).forEach((release) => release());
  try {
    createPrivateFolder(dataDir);
    held.push(await lock(join(dataDir, 'lock'), dataDir));
    const home = findHome(dataDir);
    // Locks the home too: a copied DATA_DIR may refer to the same home in /var/lib/switchboard.
    held.push(await lock(join(home.path, 'lock'), home.path));
    const passwordFile = join(dataDir, 'postgres-password');
    const passwordIsNew = !existsSync(passwordFile);
    return { home, password: readOrCreateSecretFile(passwordFile), passwordIsNew, leave };
  } catch (error) {
    leave();
    if (error instanceof OperatorError) throw error;
    throw new EmbeddedPostgresError(`The data folder ${dataDir} cannot be used: ${(error as Error).message}`);
  }
}

async function lock(file: string, folder: string): Promise<() => void> {
  for (let attempt = 0; attempt < lockAttempts; attempt++) {
    const release = tryLock(file);
    if (release) return release;
    await sleep(lockRetryMs);
  }
  throw new EmbeddedPostgresError(
    `The database in ${folder} is in use by another running service. Stop that one, choose another DATA_DIR, or set ` +
      'DATABASE_URL to a PostgreSQL that several processes can share.',
  );
}

async function startIn(
  locked: LockedHome,
  ephemeral: boolean,
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { home, password } = locked;
  const { log, timeoutMs = startTimeoutMs, nativeFolder } = options;
  const binaries = prepareBinaries(home.user, join(home.path, 'binaries'), nativeFolder);
  const clusterOptions = { home, binaries, password, ephemeral, timeoutMs };
  if (!hasCluster(home, binaries)) {
    const { templates } = options;
    await createCluster({ ...clusterOptions, ...(templates ? { template: templateIn(templates, binaries) } : {}) });
  } else {
    if (await endLeftover(clusterFolder(home.path))) log.warn('ended the PostgreSQL of a service that was killed');
    if (locked.passwordIsNew) await changePassword(clusterOptions);
  }
  const serverOptions = { home, binaries, ephemeral, timeoutMs, log };
  const supervisor = new Supervisor(await launchServer(serverOptions, options.port ?? null), serverOptions);
  let stopping: Promise<void> | null = null;
  return {
    url: `postgresql://${serviceName}:${password}@127.0.0.1:${supervisor.server.port}/${serviceName}`,
    pid: () => supervisor.server.pid,
    stop: () => (stopping ??= supervisor.stop().finally(locked.leave)),
    restart: (mode = 'fast', downtimeMs = 0) => supervisor.restart(mode, downtimeMs),
  };
}
