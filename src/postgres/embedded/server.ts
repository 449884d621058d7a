import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError } from './error.ts';
import { startGuardian } from './guardian.ts';
import { clusterFolder, type Home } from './home.ts';
import { endServer, type StopMode } from './process.ts';

/** The log of an embedded PostgreSQL. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** The settings of a server process. */
export interface ServerOptions {
  home: Home;
  binaries: Binaries;
  ephemeral: boolean;
  /** The longest wait until the server accepts connections. */
  timeoutMs: number;
  log: Log;
}

/** A server that accepts connections on 127.0.0.1. */
export interface Server {
  port: number;
  pid: number;
  /** Resolves when the server has ended, for any reason. */
  ended: Promise<void>;
  stop(mode: StopMode): Promise<void>;
}

type ServerProcess = ChildProcessByStdio<null, null, Readable>;

const retryMs = 200;
const rememberedLines = 10;
// Temporary failures: another program took the port, or children of a killed server have not ended yet.
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
  // Keeps statements and their values out of the log: the client that caused an error gets it anyway.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  // Processes that one service does not need: three that read ahead for it, and one for subscriptions to other databases.
  io_method: 'sync',
  max_logical_replication_workers: 0,
};

// For ephemeral databases, whose data need not survive a crash, and which serve many services at once.
const carelessSettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: 300 };

/** Starts the server on the port, or on a free one; tries again after temporary failures. */
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
    // A process group of its own: Ctrl-C in a terminal would otherwise end the database before the service has drained.
    detached: true,
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve()).once('error', () => resolve());
  });
  await whenReady(child, options);
  const pid = child.pid ?? 0;
  const dismissGuardian = startGuardian(pid, options.ephemeral ? home.path : null);
  void ended.then(dismissGuardian);
  return {
    port,
    pid,
    ended,
    async stop(mode) {
      // After the server's end, its process id may belong to another process.
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
