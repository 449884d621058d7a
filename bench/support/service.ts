import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const flags = ['--no-node-snapshot', '--disable-warning=ExperimentalWarning'];
const startTimeoutMs = 60_000;
const stopTimeoutMs = 20_000;
const running = new Set<ChildProcess>();

/** A process to measure: the service, a limit or a peer. */
export interface Measured {
  url: string;
  pid: number;
  /** The time from the spawn to the line with the process's URL, in milliseconds. */
  startMs: number;
  stop(): Promise<void>;
}

/** Starts a script of this repository and waits until it prints its URL. */
export async function startProcess(script: string, args: string[], env: Record<string, string>): Promise<Measured> {
  const begun = performance.now();
  const child = spawn(process.execPath, [...flags, `${root}${script}`, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const url = await listeningUrl(child);
  return { url, pid: child.pid ?? 0, startMs: performance.now() - begun, stop: () => stop(child) };
}

/** Runs the service during `work`. */
export async function withService<Result>(
  env: Record<string, string>,
  work: (service: Measured) => Promise<Result>,
): Promise<Result> {
  return withProcess(startProcess('bin/switchboard.js', ['start'], env), work);
}

/** Passes the process to `work` once it has started, and stops it afterwards. */
export async function withProcess<Result>(
  starting: Promise<Measured>,
  work: (measured: Measured) => Promise<Result>,
): Promise<Result> {
  const measured = await starting;
  try {
    return await work(measured);
  } finally {
    await measured.stop();
  }
}

/** Kills all processes of a bench that took too long. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

async function listeningUrl(child: ChildProcess): Promise<string> {
  const late = setTimeout(() => child.kill('SIGKILL'), startTimeoutMs);
  if (!child.stdout) throw new Error('The process has no output');
  try {
    for await (const line of createInterface(child.stdout)) {
      const url = /listens on (http\S+)/.exec(line)?.[1];
      if (!url) continue;
      child.stdout.resume();
      return url;
    }
  } finally {
    clearTimeout(late);
  }
  throw new Error('The process ended before it listened');
}

async function stop(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const late = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  clearTimeout(late);
}

/** The environment of a measured service: no rate limits, no log. */
export function serviceEnv(databaseUrl: string, extra: Record<string, string> = {}): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    SECRET_KEY: 'a key that only the benchmarks use, long enough',
    BOOTSTRAP_ADMIN_TOKEN: token,
    PORT: '0',
    DEMO: 'false',
    DATA_DIR: `${process.env.TMPDIR ?? '/tmp'}/switchboard-bench`,
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'error',
    OUTBOUND_ALLOW_CIDRS: '127.0.0.1/32',
    ...extra,
  };
}

/** The administrator's token of every measured service. */
export const token = 'administrator-of-the-benchmarks';

/** Calls an operation of account 1. */
export async function call<Reply>(url: string, method: string, path: string, body?: unknown): Promise<Reply> {
  const response = await fetch(`${url}/api/v1/accounts/1/${path}`, {
    method,
    headers: { api_access_token: token, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Reply;
}
