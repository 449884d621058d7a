import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError } from './error.ts';
import { postGuardian } from './guardian.ts';
import { clusterFolder, type Home } from './home.ts';
import { endServer, type StopMode } from './process.ts';

/** Where an embedded PostgreSQL reports to. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** What one run of the server needs. */
export interface ServerOptions {
  home: Home;
  binaries: Binaries;
  ephemeral: boolean;
  /** Longest wait until it accepts connections. */
  timeoutMs: number;
  log: Log;
}

/** A server that accepts connections on 127.0.0.1. */
export interface Server {
  port: number;
  pid: number;
  /** Resolves when it has ended, for whatever reason. */
  ended: Promise<void>;
  stop(mode: StopMode): Promise<void>;
}

type ServerProcess = ChildProcessByStdio<null, null, Readable>;

const retryMs = 200;
const rememberedLines = 10;
// Another program took the port, or processes of a server that was killed are about to notice.
const passingFailure =
  /could not bind|could not create any TCP\/IP sockets|pre-existing shared memory|lock file .* already exists/;

const baseSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  log_line_prefix: '',
  log_checkpoints: 'off',
  // No statement and no value of a customer goes to the log: errors belong to the client that made them.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

// For data that nobody will miss.
const carelessSettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** Starts the server, on the port or a free one, and tries again while what hinders it will pass. */
export async function launchServer(options: ServerOptions, port: number | null): Promise<Server> {
  for (let waited = 0; ; waited += retryMs) {
    try {
      return await launchOnce(options, port ?? (await findFreePort()));
    } catch (error) {
      if (!passingFailure.test((error as Error).message) || waited >= options.timeoutMs) throw error;
      await sleep(retryMs);
    }
  }
}

async function launchOnce(options: ServerOptions, port: number): Promise<Server> {
  const { home, binaries } = options;
  const settings = { ...baseSettings, ...(options.ephemeral ? carelessSettings : {}), port };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child: ServerProcess = spawn(binaries.postgres, ['-D', clusterFolder(home.path), ...flags], {
    ...home.user,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_MESSAGES: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
    // Ctrl-C in a terminal goes to the whole group; the service wants its database until it has drained.
    detached: true,
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve()).once('error', () => resolve());
  });
  await whenReady(child, options);
  const pid = child.pid ?? 0;
  const dismissGuardian = postGuardian(pid, options.ephemeral ? home.path : null);
  void ended.then(dismissGuardian);
  return {
    port,
    pid,
    ended,
    async stop(mode) {
      // The number of a process that has ended may belong to another one already.
      if (child.exitCode === null && child.signalCode === null) await endServer(pid, mode);
      await ended;
    },
  };
}

async function whenReady(child: ServerProcess, { log, timeoutMs }: ServerOptions): Promise<void> {
  const lines: string[] = [];
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  try {
    await new Promise<void>((resolve, reject) => {
      createInterface(child.stderr).on('line', (line) => {
        report(line, log);
        lines.push(line);
        if (lines.length > rememberedLines) lines.shift();
        if (line.includes('database system is ready to accept connections')) resolve();
      });
      child.once('error', reject).once('close', (code, signal) => {
        const why = signal ? `given up after ${timeoutMs} ms` : `exit code ${code}`;
        reject(new EmbeddedPostgresError(`The embedded PostgreSQL did not start (${why}): ${lines.join(' ')}`));
      });
    });
  } finally {
    clearTimeout(timer);
  }
}

function report(line: string, log: Log): void {
  if (/^(?:WARNING|FATAL|PANIC):/.test(line)) log.warn({ postgres: line }, 'embedded PostgreSQL');
  else log.debug({ postgres: line }, 'embedded PostgreSQL');
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
