import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const flags = ['--no-node-snapshot', '--disable-warning=ExperimentalWarning'];
const startTimeoutMs = 60_000;

/** A process to measure: the service, or a baseline. */
export interface Measured {
  url: string;
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
  const url = await listeningUrl(child);
  return { url, startMs: performance.now() - begun, stop: () => stop(child) };
}

async function listeningUrl(child: ChildProcess): Promise<string> {
  const late = setTimeout(() => child.kill('SIGKILL'), startTimeoutMs);
  if (!child.stdout) throw new Error('The process has no output');
  for await (const line of createInterface(child.stdout)) {
    const url = /listens on (http\S+)/.exec(line)?.[1];
    if (!url) continue;
    clearTimeout(late);
    child.stdout.resume();
    return url;
  }
  throw new Error('The process ended before it listened');
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** The environment of a measured service: no rate limits, no log. */
export function serviceEnv(databaseUrl: string, extra: Record<string, string> = {}): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    SECRET_KEY: 'a key that only the benchmarks use, long enough',
    BOOTSTRAP_ADMIN_TOKEN: token,
    PORT: '0',
    DEMO: 'true',
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
