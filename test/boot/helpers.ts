import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { packagedFolder } from '../../src/postgres/embedded/binaries.ts';
import type { EmbeddedPostgresOptions } from '../../src/postgres/embedded/start.ts';

export const isRoot = process.getuid?.() === 0;
/** The id of Debian's account `nobody`. */
export const nobody = 65534;

/** A process that owns an embedded Postgres. */
export interface Owner {
  child: ChildProcess;
  url: string;
  /** Of the server. */
  pid: number;
}

const owners = new Set<ChildProcess>();
const folders: string[] = [];

/** A log that keeps what it is told. */
export function collectingLog(): { lines: string[]; log: EmbeddedPostgresOptions['log'] } {
  const lines: string[] = [];
  const write = (...parts: unknown[]): void => {
    lines.push(parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(' '));
  };
  return { lines, log: { debug: () => undefined, info: write, warn: write, error: write } };
}

/** A temporary folder that removeFolders removes. Others may pass through it unless the mode says otherwise. */
export function newFolder(mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-boot-'));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

/** Removes what newFolder made, the homes outside that a DATA_DIR in there names included. */
export function removeFolders(): void {
  for (const folder of folders.splice(0)) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('postgres-home')) continue;
      rmSync(readFileSync(join(folder, file), 'utf8').trim(), { recursive: true, force: true });
    }
    // A server whose owner was killed may still be writing its last.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** A copy of PostgreSQL as `npm ci --ignore-scripts` leaves it: without its symbolic links. */
export function copyNativeWithoutLinks(parent: string): string {
  const folder = join(parent, 'native');
  const links = JSON.parse(readFileSync(join(packagedFolder(), 'pg-symlinks.json'), 'utf8')) as { target: string }[];
  const left = new Set(links.map(({ target }) => target.slice('native/'.length)));
  const source = packagedFolder();
  cpSync(source, folder, { recursive: true, filter: (path) => !left.has(path.slice(source.length + 1)) });
  return folder;
}

/** Starts an owner, as another account where an id is given. Rejects with what it printed when it ends before it is up. */
export async function startOwner(options: Omit<EmbeddedPostgresOptions, 'log'>, id?: number): Promise<Owner> {
  const script = fileURLToPath(new URL('owner.ts', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, JSON.stringify(options)], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(id === undefined ? {} : { uid: id, gid: id }),
  });
  owners.add(child);
  child.once('exit', () => owners.delete(child));
  const errors = text(child.stderr);
  const [first] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [Buffer | number | null];
  if (!Buffer.isBuffer(first)) throw new Error(await errors);
  return { child, ...(JSON.parse(first.toString()) as { url: string; pid: number }) };
}

/** Kills without a chance to clean up. */
export async function kill({ child }: Pick<Owner, 'child'>): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Kills what the failed test left running. */
export function killOwners(): void {
  for (const child of owners) child.kill('SIGKILL');
}

/** The rows of one statement. */
export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement);
    return rows;
  } finally {
    await client.end();
  }
}

/** Calls until it returns something true. Throws after two minutes: machines may be busy. */
export async function until<Value>(probe: () => Promise<Value> | Value): Promise<Value> {
  for (let attempt = 0; attempt < 2_400; attempt++) {
    const value = await probe();
    if (value) return value;
    await sleep(50);
  }
  throw new Error('It did not happen within two minutes');
}

/** Ids of the processes whose parent is the given one. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid)
    .map(Number);
}

function parentOf(pid: string): number | null {
  try {
    return Number(/\) \w (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}
