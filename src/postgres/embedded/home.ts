import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canEnter, chooseAccount, describeAccount, isRoot, type Account } from './account.ts';
import { systemRandom } from '../../lib/ports.ts';
import { EmbeddedPostgresError } from './error.ts';

/** Where an embedded PostgreSQL keeps its files, and whose they are. */
export interface Home {
  /** Holds `cluster` (the data), and `binaries-VERSION` where a copy of the programs is needed. */
  path: string;
  account: Account;
}

const SYSTEM_FOLDER = '/var/lib/switchboard';
const OTHERS_MAY_PASS = 0o711;

/** The data of a home. */
export function clusterFolder(home: string): string {
  return join(home, 'cluster');
}

/**
 * The home that belongs to a DATA_DIR: its folder `postgres`. Where root runs the service and Postgres' account cannot
 * pass through a folder above, the home is a new folder in /var/lib/switchboard, which the file `postgres-home` names.
 */
export function findHome(dataDir: string): Home {
  const inPlace = join(dataDir, 'postgres');
  const pointer = join(dataDir, 'postgres-home');
  if (isRoot() && existsSync(pointer)) return pointedHome(pointer);
  const isNew = !existsSync(clusterFolder(inPlace));
  const account = chooseAccount(clusterFolder(inPlace));
  mkdirSync(inPlace, { recursive: true, mode: isRoot() ? OTHERS_MAY_PASS : 0o700 });
  if (!isRoot() || isUsable(inPlace, account)) return { path: inPlace, account };
  if (isNew) {
    rmSync(inPlace, { recursive: true });
    return relocatedHome(dataDir, pointer, account);
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL runs as ${describeAccount(account)}, which can no longer pass through the folders above ${inPlace}. ` +
      `Allow it to (chmod o+x), or move that folder to ${SYSTEM_FOLDER}/NAME and write this path into ${pointer}.`,
  );
}

/** A home in the temporary folder, to be removed after use. */
export function createEphemeralHome(): Home {
  const account = chooseAccount('');
  const base = [tmpdir(), '/tmp', '/var/tmp'].find((folder) => canEnter(folder, account));
  if (!base) throw new EmbeddedPostgresError(`${describeAccount(account)} can enter no temporary folder.`);
  const path = mkdtempSync(join(base, 'switchboard-postgres-'));
  if (isRoot()) chmodSync(path, OTHERS_MAY_PASS);
  return { path, account };
}

/** Makes an empty folder that belongs to the account. */
export function createAccountFolder(path: string, account: Account): void {
  mkdirSync(path, { mode: 0o700 });
  if ('uid' in account) chownSync(path, account.uid, account.gid);
}

function pointedHome(pointer: string): Home {
  const path = readFileSync(pointer, 'utf8').trim();
  if (existsSync(path)) return { path, account: chooseAccount(clusterFolder(path)) };
  throw new EmbeddedPostgresError(
    `${pointer} names ${path} as the place of the database, and that is gone. Remove ${pointer} to begin with an empty one.`,
  );
}

/** The name is random and not made from DATA_DIR's path: who removes DATA_DIR wants to begin with an empty database. */
function relocatedHome(dataDir: string, pointer: string, account: Account): Home {
  const path = join(SYSTEM_FOLDER, systemRandom.uuid());
  try {
    mkdirSync(path, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw new EmbeddedPostgresError(
      `PostgreSQL runs as ${describeAccount(account)}, which cannot enter ${dataDir}, and ${path} cannot be made ` +
        `(${(error as Error).message}). Choose a DATA_DIR that every account may pass through, or set DATABASE_URL.`,
    );
  }
  chmodSync(path, OTHERS_MAY_PASS);
  if (!isUsable(path, account)) {
    throw new EmbeddedPostgresError(`${describeAccount(account)}, which runs PostgreSQL, cannot enter ${path}.`);
  }
  writeFileSync(join(path, 'belongs-to'), `${dataDir}\n`);
  writeFileSync(pointer, `${path}\n`, { flush: true });
  return { path, account };
}

/** Some file systems let the account in, but let nobody hand a file over to it. */
function isUsable(home: string, account: Account): boolean {
  if (!canEnter(home, account)) return false;
  const probe = join(home, `probe-${systemRandom.uuid()}`);
  try {
    createAccountFolder(probe, account);
    return canEnter(probe, account);
  } catch {
    return false;
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
}
