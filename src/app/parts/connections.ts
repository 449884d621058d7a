import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import { Database } from '../../postgres/database.ts';
import { noFileLinks, type FileLinks } from '../../lib/file-links.ts';
import type { Clock } from '../../lib/ports.ts';

const engineShare = 1 / 4;

type Division = Pick<Config, 'role' | 'databasePoolMax' | 'databasePoolEngine'>;

/** Divides the connections of a process into those for requests and those reserved for deliveries, bots and sweeps. */
export function divideConnections({ role, databasePoolMax: max, databasePoolEngine }: Division): {
  requests: number;
  engine: number;
} {
  // A process of one role leaves the other pool unused, except for the one connection of the readiness check.
  if (role === 'web') return { requests: max, engine: 1 };
  if (role === 'engine') return { requests: 1, engine: Math.max(1, max - 1) };
  const engine = databasePoolEngine ?? Math.max(1, Math.floor(max * engineShare));
  return { requests: Math.max(1, max - engine), engine };
}

/** The two pools of a process. Neither can use the other's connections; both hear the announcements of either. */
export interface Databases {
  /** For requests: a lock timeout is answered to the caller. */
  requests: Database;
  /** For deliveries, bots and sweeps: work that hits a lock timeout is run again. */
  engine: Database;
}

/** Opens the pools on the database at `url`; each connects at its first use. */
export function openDatabases({
  config,
  url,
  clock,
  log,
  fileLinks = noFileLinks,
}: {
  config: Config;
  url: string;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'error'>;
  fileLinks?: FileLinks;
}): Databases {
  const sizes = divideConnections(config);
  const common = {
    url,
    clock,
    fileLinks,
    statementTimeoutMs: config.statementTimeoutMs,
    lockTimeoutMs: config.lockTimeoutMs,
    idleInTransactionTimeoutMs: config.idleInTransactionTimeoutMs,
    warn: (message: string) => log.debug(message),
    failed: (error: unknown) => log.error({ err: error }, 'background work failed'),
  };
  const requests = new Database({ ...common, poolMax: sizes.requests, retriesLocks: false });
  const engine = new Database({
    ...common,
    poolMax: sizes.engine,
    retriesLocks: true,
    plansOnce: true,
    beside: requests,
  });
  return { requests, engine };
}
