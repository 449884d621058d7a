import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { Database } from '../postgres/database.ts';
import { entities } from '../records/entities.ts';
import type { Clock } from '../lib/ports.ts';

const engineShare = 1 / 4;

type Division = Pick<Config, 'role' | 'databasePoolMax' | 'databasePoolEngine'>;

/** How many connections of a process are for requests, and how many reserved for deliveries, bots and sweeps. */
export function divideConnections({ role, databasePoolMax: max, databasePoolEngine }: Division): {
  requests: number;
  engine: number;
} {
  // Such a process does not use the other kind, but for the one connection that tells whether it is ready.
  if (role === 'web') return { requests: max, engine: 1 };
  if (role === 'engine') return { requests: 1, engine: Math.max(1, max - 1) };
  const engine = databasePoolEngine ?? Math.max(1, Math.floor(max * engineShare));
  return { requests: Math.max(1, max - engine), engine };
}

/** The two pools of a process. Neither can take the other's connections; what one announces the other hears. */
export interface Databases {
  /** Of requests: who waits too long for a lock is told so. */
  requests: Database;
  /** Of deliveries, bots and sweeps: what waits too long for a lock is done again. */
  engine: Database;
}

/** The pools of a process on the database at `url`; they connect when they are first used. */
export function openDatabases({
  config,
  url,
  clock,
  log,
}: {
  config: Config;
  url: string;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'error'>;
}): Databases {
  const sizes = divideConnections(config);
  const common = {
    url,
    entities,
    clock,
    statementTimeoutMs: config.statementTimeoutMs,
    lockTimeoutMs: config.lockTimeoutMs,
    idleInTransactionTimeoutMs: config.idleInTransactionTimeoutMs,
    warn: (message: string) => log.debug(message),
    failed: (error: unknown) => log.error({ err: error }, 'background work failed'),
  };
  const requests = new Database({ ...common, poolMax: sizes.requests, retriesLocks: false });
  const engine = new Database({ ...common, poolMax: sizes.engine, retriesLocks: true, beside: requests });
  return { requests, engine };
}
