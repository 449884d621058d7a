import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { noFileLinks, type FileLinks } from '../lib/file-links.ts';
import type { Clock } from '../lib/ports.ts';
import { limitParameters, type TimeLimits } from './check-server.ts';
import { rowTypes } from './row-types.ts';
import { SqlTransaction } from './sql-transaction.ts';
import { moment, type Sql } from './sql.ts';

export interface DatabaseOptions extends TimeLimits {
  url: string;
  poolMax: number;
  /** Whether to run a transaction again after a lock timeout: only for background work, where no caller waits. */
  retriesLocks: boolean;
  /**
   * Whether statements are planned without a look at their parameters, so that a prepared one is planned once on each
   * connection: only where none is better planned for its parameters.
   */
  plansOnce?: boolean;
  clock: Clock;
  /** Called with the errors of idle connections, which the pool replaces; they contain no values. */
  warn: (message: string) => void;
  /** Called with errors of background work that has no caller: work after a commit, and sweeps. */
  failed: (error: unknown) => void;
  /** Makes the links to files in events. */
  fileLinks?: FileLinks;
  /** Another pool of this process on the same database; the two share announcements. */
  beside?: Database;
}

const closePollMs = 5;

/** A pool of connections to PostgreSQL. */
export class Database {
  readonly clock: Clock;
  readonly failed: DatabaseOptions['failed'];
  readonly retriesLocks: boolean;
  readonly fileLinks: FileLinks;
  /** Emits announcements of committed work in this process: see events/announcements.ts. */
  readonly announcements: EventEmitter;
  readonly #pool: Pool;

  constructor(options: DatabaseOptions) {
    this.clock = options.clock;
    this.failed = options.failed;
    this.retriesLocks = options.retriesLocks;
    this.fileLinks = options.fileLinks ?? noFileLinks;
    this.announcements = options.beside?.announcements ?? new EventEmitter();
    this.#pool = new Pool({
      connectionString: options.url,
      max: options.poolMax,
      types: rowTypes(),
      ...limitParameters(options),
      connectionTimeoutMillis: options.statementTimeoutMs,
      application_name: 'switchboard',
      ...(options.plansOnce ? { options: '-c plan_cache_mode=force_generic_plan' } : {}),
    });
    // The statement that is under way fails by itself; without a listener the process would end.
    const warn = ({ message }: Error): void => options.warn(`PostgreSQL connection error: ${message}`);
    this.#pool.on('error', warn).on('connect', (client) => void client.on('error', warn));
  }

  /** The number of connections in use. */
  get inUse(): number {
    return this.#pool.totalCount - this.#pool.idleCount;
  }

  /** Runs a statement on a connection of its own, as a transaction of its own. */
  readonly sql: Sql = (text, parameters) => SqlTransaction.single(this.#pool, text, parameters);

  /** Runs statements in one transaction, which records no events: use `transact` for changes that others must see. */
  async transaction<Done>(work: (sql: Sql) => Promise<Done>): Promise<Done> {
    const transaction = await this.begin();
    try {
      const done = await work(transaction.sql);
      await transaction.commit();
      return done;
    } finally {
      await transaction.end();
    }
  }

  /** Begins a transaction on a connection of its own, which its `end` returns. */
  begin(): Promise<SqlTransaction> {
    return SqlTransaction.on(this.#pool);
  }

  /** The current time of the database's clock. */
  async time(): Promise<Date> {
    const [row] = await this.sql<{ now: string }>('SELECT clock_timestamp() AS now');
    return moment(row?.now ?? '');
  }

  /** Throws if the database does not answer. */
  async ping(): Promise<void> {
    await this.sql('SELECT 1');
  }

  /** Closes the connections when statements that have begun are answered. */
  async close(): Promise<void> {
    do await sleep(closePollMs);
    while (this.inUse + this.#pool.waitingCount > 0);
    await this.#pool.end();
  }
}
