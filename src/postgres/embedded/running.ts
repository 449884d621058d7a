import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tryLock } from './file-lock.ts';
import { serviceName } from './cluster.ts';
import { clusterFolder } from './home.ts';
import { refuseUnfinished } from './unfinished.ts';

// Lines of postmaster.pid: process id, folder, start time, port, …
const portLine = 3;

/** True if a DATA_DIR contains a database. */
export function hasDatabase(dataDir: string): boolean {
  return existsSync(join(dataDir, 'postgres-home')) || existsSync(clusterFolder(join(dataDir, 'postgres')));
}

/**
 * The URL of the database that a running service has started on this DATA_DIR; null if none is running. The URL
 * contains the password, so it is a secret. Throws EmbeddedPostgresError for a folder whose restore has not completed.
 */
export function runningPostgresUrl(dataDir: string): string | null {
  const folder = resolve(dataDir);
  refuseUnfinished(folder);
  if (!isHeld(join(folder, 'lock'))) return null;
  const pointer = join(folder, 'postgres-home');
  const home = existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : join(folder, 'postgres');
  const processFile = join(clusterFolder(home), 'postmaster.pid');
  const passwordFile = join(folder, 'postgres-password');
  if (!existsSync(processFile) || !existsSync(passwordFile)) return null;
  const port = readFileSync(processFile, 'utf8').split('\n')[portLine]?.trim();
  const password = readFileSync(passwordFile, 'utf8').trim();
  return port ? `postgresql://${serviceName}:${password}@127.0.0.1:${port}/${serviceName}` : null;
}

function isHeld(file: string): boolean {
  if (!existsSync(file)) return false;
  const release = tryLock(file);
  release?.();
  return release === null;
}
