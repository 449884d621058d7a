import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tryLock } from './file-lock.ts';
import { serviceName } from './cluster.ts';
import { clusterFolder } from './home.ts';

// Of PostgreSQL's own file: process id, folder, start time, port, …
const portLine = 3;

/** Whether a database was ever made on a DATA_DIR. */
export function hasDatabase(dataDir: string): boolean {
  return existsSync(join(dataDir, 'postgres-home')) || existsSync(clusterFolder(join(dataDir, 'postgres')));
}

/**
 * URL of the database that another process of this account runs on a DATA_DIR, for work beside it; null when none runs
 * there. It holds the password, so it is a secret.
 */
export function runningPostgresUrl(dataDir: string): string | null {
  const folder = resolve(dataDir);
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
