import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canEnter, chooseSystemUser, describeSystemUser, isRoot, type SystemUser } from './system-user.ts';
import { systemRandom } from '../../lib/ports.ts';
import { EmbeddedPostgresError } from './error.ts';

/** The folder of an embedded PostgreSQL and the system user that owns it. */
export interface Home {
  /** Contains `cluster` (the data) and, if the programs had to be copied, `binaries-VERSION`. */
  path: string;
  user: SystemUser;
}

const systemFolder = '/var/lib/switchboard';
const othersMayPass = 0o711;

/** The folder of the data in a home. */
export function clusterFolder(home: string): string {
  return join(home, 'cluster');
}

/**
 * The home of a DATA_DIR: its folder `postgres`. If the service runs as root, and the system user of PostgreSQL cannot
 * enter one of the folders above, the home is a new folder in /var/lib/switchboard; the file `postgres-home` contains
 * its path.
 */
export function findHome(dataDir: string): Home {
  const inPlace = join(dataDir, 'postgres');
  const pointer = join(dataDir, 'postgres-home');
  if (isRoot() && existsSync(pointer)) return pointedHome(pointer);
  const isNew = !existsSync(clusterFolder(inPlace));
  const user = chooseSystemUser(clusterFolder(inPlace));
  mkdirSync(inPlace, { recursive: true, mode: isRoot() ? othersMayPass : 0o700 });
  if (!isRoot() || isUsable(inPlace, user)) return { path: inPlace, user };
  if (isNew) {
    rmSync(inPlace, { recursive: true });
    return relocatedHome(dataDir, pointer, user);
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL runs as ${describeSystemUser(user)}, which can no longer pass through the folders above ${inPlace}. ` +
      `Allow it to (chmod o+x), or move that folder to ${systemFolder}/NAME and write this path into ${pointer}.`,
  );
}

/** Creates a home in a temporary folder; the caller deletes it after use. */
export function createEphemeralHome(): Home {
  const user = chooseSystemUser('');
  const base = [tmpdir(), '/tmp', '/var/tmp'].find((folder) => canEnter(folder, user));
  if (!base) throw new EmbeddedPostgresError(`${describeSystemUser(user)} can enter no temporary folder.`);
  const path = mkdtempSync(join(base, 'switchboard-postgres-'));
  if (isRoot()) chmodSync(path, othersMayPass);
  return { path, user };
}

/** Creates an empty folder that belongs to the system user. */
export function createFolderOf(path: string, user: SystemUser): void {
  mkdirSync(path, { mode: 0o700 });
  if ('uid' in user) chownSync(path, user.uid, user.gid);
}

function pointedHome(pointer: string): Home {
  const path = readFileSync(pointer, 'utf8').trim();
  if (existsSync(path)) return { path, user: chooseSystemUser(clusterFolder(path)) };
  throw new EmbeddedPostgresError(
    `${pointer} names ${path} as the place of the database, and that is gone. Remove ${pointer} to begin with an empty one.`,
  );
}

/** The name is random: derived from DATA_DIR's path, it would bring old data back after DATA_DIR was deleted. */
function relocatedHome(dataDir: string, pointer: string, user: SystemUser): Home {
  const path = join(systemFolder, systemRandom.uuid());
  try {
    mkdirSync(path, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw new EmbeddedPostgresError(
      `PostgreSQL runs as ${describeSystemUser(user)}, which cannot enter ${dataDir}, and ${path} cannot be made ` +
        `(${(error as Error).message}). Choose a DATA_DIR that every account may pass through, or set DATABASE_URL.`,
    );
  }
  chmodSync(path, othersMayPass);
  if (!isUsable(path, user)) {
    throw new EmbeddedPostgresError(`${describeSystemUser(user)}, which runs PostgreSQL, cannot enter ${path}.`);
  }
  writeFileSync(join(path, 'belongs-to'), `${dataDir}\n`);
  writeFileSync(pointer, `${path}\n`, { flush: true });
  return { path, user };
}

/** True if the user can enter the home and own files there; some file systems do not support chown. */
function isUsable(home: string, user: SystemUser): boolean {
  if (!canEnter(home, user)) return false;
  const probe = join(home, `probe-${systemRandom.uuid()}`);
  try {
    createFolderOf(probe, user);
    return canEnter(probe, user);
  } catch {
    return false;
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
}
