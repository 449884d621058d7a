import { Pool } from 'undici';
import { median, percentile } from './figures.ts';
import { token } from './service.ts';

/** A request of account 1; `path` begins after the account's. */
export interface Ask {
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
}

export interface Load {
  connections: number;
  /** How long each round lasts. */
  roundMs: number;
  /** The requests, in turns. */
  next: () => Ask;
}

/** Results of one round. */
export interface Round {
  perSecond: number;
  latenciesMs: number[];
}

/** Keeps every connection busy for one round. Throws when a request fails. */
export async function load(url: string, { connections, roundMs, next }: Load): Promise<Round> {
  const pool = new Pool(url, { connections });
  const latenciesMs: number[] = [];
  const begun = performance.now();
  const client = async (): Promise<void> => {
    while (performance.now() < begun + roundMs) latenciesMs.push(await ask(pool, next()));
  };
  await Promise.all(Array.from({ length: connections }, client));
  const seconds = (performance.now() - begun) / 1000;
  await pool.close();
  return { perSecond: latenciesMs.length / seconds, latenciesMs };
}

/** Sends a number of requests one after the other; resolves with how long each took. */
export async function oneByOne(url: string, count: number, next: () => Ask): Promise<number[]> {
  const pool = new Pool(url, { connections: 1 });
  const latenciesMs: number[] = [];
  for (let sent = 0; sent < count; sent++) latenciesMs.push(await ask(pool, next()));
  await pool.close();
  return latenciesMs;
}

/** Resolves with the milliseconds from the request to the end of the answer. */
async function ask(pool: Pool, { method, path, body }: Ask): Promise<number> {
  const begun = performance.now();
  const response = await pool.request({
    method,
    path: `/api/v1/accounts/1/${path}`,
    headers: { api_access_token: token, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${await response.body.text()}`);
  await response.body.dump();
  return performance.now() - begun;
}

/** Returns medians over all rounds but the first, which warmed up. */
export function summary(rounds: readonly Round[]): { perSecond: number; p50: number; p99: number } {
  const counted = rounds.slice(1);
  const all = counted.flatMap(({ latenciesMs }) => latenciesMs);
  return {
    perSecond: median(counted.map(({ perSecond }) => perSecond)),
    p50: percentile(all, 0.5),
    p99: percentile(all, 0.99),
  };
}
