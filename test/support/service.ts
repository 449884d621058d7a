import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { adminToken, type Answer } from './app.ts';

const program = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));
// Only for what never comes up: a busy machine starts slowly.
const startMs = 120_000;
// Compiled code, shared by the services of a test run: half of a start is compiling.
const compileCache = join(tmpdir(), 'switchboard-test-compile-cache');
const pollMs = 10;

/** How a process ended: its exit code or the signal that ended it. */
export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ServiceOptions {
  /** Without it, the service has its embedded database. */
  databaseUrl?: string;
  /** DATA_DIR, where it outlives the service. */
  dataDir?: string;
  /** Environment variables in addition to those of every test service. */
  env?: Record<string, string>;
  /** More arguments of `start`. */
  args?: readonly string[];
  /** `alive`: as soon as it answers /healthz; `ready` (the default): once its start has completed. */
  until?: 'alive' | 'ready';
}

const running = new Set<ServiceProcess>();

/** Stops the services that a failed test left running. */
export async function killServices(): Promise<void> {
  await Promise.all([...running].map((service) => service.kill()));
}

// Below those that systems take for the other ends of connections: between the choice and the start of who listens there,
// one of the many connections of a test could take the port.
const [firstPort, ports] = [15_000, 15_000];

/** A free port on loopback. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * ports);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  const found = await promise;
  if (found) await new Promise((done) => server.close(done));
  return found;
}

/** The service as a process of its own, started as users start it, which can be killed, stopped and watched. */
export class ServiceProcess {
  readonly url: string;
  readonly ended: Promise<Ending>;
  /** All that it wrote to standard output and error. */
  output = '';
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(
    port: number,
    { dataDir, env = {}, args = [] }: Pick<ServiceOptions, 'dataDir' | 'env' | 'args'>,
  ) {
    this.url = `http://127.0.0.1:${port}`;
    this.#folder = mkdtempSync(join(tmpdir(), 'switchboard-service-'));
    this.#child = spawn(process.execPath, [program, 'start', ...args], {
      cwd: this.#folder,
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: compileCache,
        ...env,
        PORT: String(port),
        DATA_DIR: dataDir ?? join(this.#folder, 'data'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { promise, resolve } = Promise.withResolvers<Ending>();
    this.ended = promise;
    running.add(this);
    this.#child.once('close', (code, signal) => {
      running.delete(this);
      rmSync(this.#folder, { recursive: true, force: true });
      resolve({ code, signal });
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
  }

  /** Starts it on a free port; rejects with its output when it exits before. */
  static async start({ databaseUrl, env, until = 'ready', ...others }: ServiceOptions): Promise<ServiceProcess> {
    const environment: Record<string, string> = {
      ...(databaseUrl === undefined
        ? { DEMO: 'false' }
        : { DATABASE_URL: databaseUrl, SECRET_KEY: 'a key that only the tests use, long enough' }),
      BOOTSTRAP_ADMIN_TOKEN: adminToken,
      OUTBOUND_ALLOW_CIDRS: '127.0.0.1/32',
      RATE_LIMIT_PER_MINUTE: '0',
      SIGN_INS_PER_MINUTE: '0',
      LOG_LEVEL: 'error',
      ...env,
    };
    const service = new ServiceProcess(await freePort(), { ...others, env: environment });
    const isUp =
      until === 'alive'
        ? () =>
            service.get('/healthz').then(
              ({ status }) => status === 200,
              () => false,
            )
        : () => Promise.resolve(service.output.includes('Switchboard listens on'));
    await service.#waitUntil(isUp);
    return service;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Calls an operation as the administrator; a path without a leading slash is relative to account 1. */
  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const full = path.startsWith('/') ? path : `/api/v1/accounts/1/${path}`;
    const response = await fetch(this.url + full, {
      method,
      headers: { api_access_token: adminToken, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  post(path: string, body: unknown = {}): Promise<Answer> {
    return this.call('POST', path, body);
  }

  /** Takes away the webhook that a start with DEMO has made: for those who count what is delivered. */
  async withoutDemoWebhook(): Promise<this> {
    for (const { id } of (await this.get('webhooks')).body.payload as { id: number }[])
      await this.call('DELETE', `webhooks/${id}`);
    return this;
  }

  /** Sends a signal, by default SIGTERM; returns how the process ended. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ending> {
    this.#child.kill(signal);
    return this.ended;
  }

  /** Kills it without a chance to clean up. */
  kill(): Promise<Ending> {
    return this.stop('SIGKILL');
  }

  async #waitUntil(probe: () => Promise<boolean>): Promise<void> {
    for (let waited = 0; waited < startMs; waited += pollMs) {
      if (!this.isRunning) throw new Error(`The service ended before it was up: ${this.output}`);
      if (await probe()) return;
      await sleep(pollMs);
    }
    await this.kill();
    throw new Error(`The service was not up within ${startMs} ms: ${this.output}`);
  }
}
