import { spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SystemUser } from './system-user.ts';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError } from './error.ts';
import { clusterFolder, createFolderOf, type Home } from './home.ts';
import { copyTemplate } from './copy-template.ts';

/** The name of the service's role and of its database. */
export const serviceName = 'switchboard';

// The rules of pg_hba.conf: only the service's role may log in, the superuser may not.
const hostRules = `host all ${serviceName} 127.0.0.1/32 scram-sha-256\n`;
// The builtin locale sorts and folds text in the same way on every machine.
const localeOptions = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
const outputTailChars = 2000;

/** The settings of a new cluster. */
export interface ClusterOptions {
  home: Home;
  binaries: Binaries;
  /** The password of the service's role. */
  password: string;
  /** For tests: the role may create databases, and data need not survive a crash. */
  ephemeral: boolean;
  timeoutMs: number;
  /** A migrated cluster that is copied, where it is there, instead of making one. */
  template?: string;
}

/** True if the home contains a cluster. Throws if another major version of PostgreSQL created it. */
export function hasCluster(home: Home, binaries: Binaries): boolean {
  const folder = clusterFolder(home.path);
  if (!existsSync(folder)) return false;
  const found = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim();
  const own = binaries.version.replace(/\D.*/, '');
  if (found === own) return true;
  throw new EmbeddedPostgresError(
    `The database in ${folder} was made by PostgreSQL ${found}, and this release brings PostgreSQL ${own}. Carry the data ` +
      'over with a dump from the older release, or choose another DATA_DIR.',
  );
}

/** Creates a cluster with the service's role and database. After a failure, there is no cluster. */
export async function createCluster(options: ClusterOptions): Promise<void> {
  const { home, binaries, ephemeral } = options;
  const draft = `${clusterFolder(home.path)}.new`;
  rmSync(draft, { recursive: true, force: true });
  createFolderOf(draft, home.user);
  if (options.template !== undefined && (await copyTemplate(options.template, draft, home))) {
    // A crash of the machine must not leave half a copy.
    await Promise.all([ephemeral ? null : sync(draft, options), setPassword(draft, options)]);
  } else {
    rmSync(draft, { recursive: true, force: true });
    createFolderOf(draft, home.user);
    const flags = ephemeral ? ['--no-sync'] : [];
    await run(binaries.initdb, [`--pgdata=${draft}`, ...flags, ...clusterRecipe().flags], options);
    writeFileSync(join(draft, 'pg_hba.conf'), hostRules);
    await runSql(draft, options, [
      `CREATE ROLE ${serviceName} LOGIN ${ephemeral ? 'CREATEDB' : ''} PASSWORD ${quote(options.password)}`,
      `CREATE DATABASE ${serviceName} OWNER ${serviceName}`,
    ]);
  }
  renameSync(draft, clusterFolder(home.path));
}

/** All that decides what a new cluster is like, besides the release of PostgreSQL. */
export function clusterRecipe(): { flags: string[]; hostRules: string } {
  const flags = ['--username=postgres', '--auth=reject', '--no-instructions', ...localeOptions, ...classification()];
  return { flags, hostRules };
}

/** Sets a new password of the service's role in a stopped cluster. */
export function changePassword(options: ClusterOptions): Promise<void> {
  return setPassword(clusterFolder(options.home.path), options);
}

/** Takes the password of the service's role in a stopped cluster away: the role cannot log in until it gets another. */
export function removePassword(options: ClusterOptions): Promise<void> {
  return runSql(clusterFolder(options.home.path), options, [`ALTER ROLE ${serviceName} PASSWORD NULL`]);
}

function setPassword(folder: string, options: ClusterOptions): Promise<void> {
  const role = `${serviceName} ${options.ephemeral ? 'CREATEDB' : ''}`;
  return runSql(folder, options, [`ALTER ROLE ${role} PASSWORD ${quote(options.password)}`]);
}

async function sync(folder: string, options: ClusterOptions): Promise<void> {
  const method = process.platform === 'linux' ? ['--sync-method=syncfs'] : [];
  await run(options.binaries.initdb, ['--sync-only', ...method, `--pgdata=${folder}`], options);
}

/** The option for character classes of full text search: Unicode, if the system has such a locale (Debian, macOS). */
function classification(): string[] {
  return process.platform === 'linux' && existsSync('/usr/lib/locale/C.utf8') ? ['--lc-ctype=C.UTF-8'] : [];
}

/** Runs statements on a stopped cluster in single-user mode, as its superuser. */
async function runSql(folder: string, options: ClusterOptions, statements: string[]): Promise<void> {
  const flags = options.ephemeral ? ['-F'] : [];
  const input = statements.map((statement) => `${statement};\n`).join('');
  const args = ['--single', '-D', folder, ...flags, '-c', 'log_min_messages=error', 'postgres'];
  const output = await run(options.binaries.postgres, args, options, input);
  const fault = /\b(?:ERROR|FATAL|PANIC):.*/.exec(output);
  if (fault) throw new EmbeddedPostgresError(`The embedded PostgreSQL could not be prepared: ${fault[0]}`);
}

/** Runs a program of PostgreSQL and returns its output. Rejects if the program fails. */
async function run(file: string, args: string[], options: ClusterOptions, input = ''): Promise<string> {
  const child = spawn(file, args, {
    ...(options.home.user satisfies SystemUser),
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_MESSAGES: 'C' },
    timeout: options.timeoutMs,
    killSignal: 'SIGKILL',
  });
  let output = '';
  const collect = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-outputTailChars);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  // A program that ends early breaks the pipe; its output says why it ended.
  child.stdin.on('error', () => undefined).end(input);
  const status = await new Promise<number | string | null>((resolve, reject) => {
    child.on('error', reject).on('close', (code, signal) => resolve(code ?? signal));
  });
  if (status === 0) return output;
  throw new EmbeddedPostgresError(`The embedded PostgreSQL could not be made (${status}): ${output.trim()}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
