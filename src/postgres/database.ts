import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { MikroORM, type EntityClass, type EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { takeBackBroken } from './broken-connections.ts';
import { noFileLinks, type FileLinks } from '../lib/file-links.ts';
import type { Clock } from '../lib/ports.ts';
import { limitParameters, type TimeLimits } from './check-server.ts';
import { ormContext } from './orm-context.ts';
import { PreparingClient } from './prepared.ts';
import { SqlTransaction } from './sql-transaction.ts';
import { moment, sql } from './sql.ts';

export interface DatabaseOptions extends TimeLimits {
  url: string;
  /** The entity classes of the ORM. */
  entities: readonly EntityClass[];
  poolMax: number;
  /** Whether to run a transaction again after a lock timeout: only for background work, where no caller waits. */
  retriesLocks: boolean;
  /**
   * Whether statements are planned without a look at their parameters, so that a prepared one is planned once on each
   * connection: only where none is better planned for its parameters.
   */
  plansOnce?: boolean;
  clock: Clock;
  /** Called with warnings of the ORM, about broken connections for example; they contain no values. */
  warn: (message: string) => void;
  /** Called with errors of background work that has no caller: work after a commit, and sweeps. */
  failed: (error: unknown) => void;
  /** Makes the links to files that events tell of. */
  fileLinks?: FileLinks;
  /** Another pool of this process on the same database; the two share announcements. */
  beside?: Database;
}

/** An endpoint with new deliveries of an account. */
export interface TouchedEndpoint {
  kind: 'webhook' | 'bot';
  id: number;
  accountId: number;
  /** Whether they are beside the live ones: somebody asked for them. */
  isSide?: boolean;
}

/** What the administrators of an account should know of a webhook: it was switched off, or has been failing for an hour. */
export interface WebhookNotice {
  what: 'disabled' | 'failing';
  account: { id: number; name: string };
  webhook: { id: number; name: string | null; url: string };
  reason: string;
}

interface Announcements {
  /** Whether events were recorded, and the endpoints that have deliveries to make. */
  committed: { events: boolean; deliveries: readonly TouchedEndpoint[] };
  snooze: Date;
  /** The number of changes of plugins. */
  plugins: number;
  /** The number of changes of articles, or of what embeds them. */
  articles: number;
  /** When a bot wants to be called. */
  call: Date;
  run: RunFigures;
  notice: WebhookNotice;
  /** The migrations of a newer release in the database. */
  upgraded: readonly string[];
}

/** A run of a bot that was recorded. */
export interface RunFigures {
  plugin: string;
  outcome: string;
  cpuSeconds: number;
}

const closePollMs = 5;

/** A pool of connections to PostgreSQL, and the announcements of committed work within this process. */
export class Database {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly failed: DatabaseOptions['failed'];
  readonly retriesLocks: boolean;
  readonly fileLinks: FileLinks;
  readonly #announcements: EventEmitter;
  #pool: Pool | null = null;

  constructor(options: DatabaseOptions) {
    this.clock = options.clock;
    this.failed = options.failed;
    this.retriesLocks = options.retriesLocks;
    this.fileLinks = options.fileLinks ?? noFileLinks;
    this.#announcements = options.beside ? options.beside.#announcements : new EventEmitter();
    this.orm = new MikroORM({
      clientUrl: options.url,
      entities: [...options.entities],
      pool: { min: 0, max: options.poolMax },
      driverOptions: {
        Client: PreparingClient,
        ...limitParameters(options),
        connectionTimeoutMillis: options.statementTimeoutMs,
        application_name: 'switchboard',
        ...(options.plansOnce ? { options: '-c plan_cache_mode=force_generic_plan' } : {}),
        onPoolCreated: takeBackBroken,
      },
      preferReadReplicas: false,
      validateRequired: false,
      logger: options.warn,
      debug: ['info'],
      colors: false,
      forceUtcTimezone: true,
    });
  }

  /** The number of connections in use. */
  get inUse(): number {
    return this.#pool ? this.#pool.totalCount - this.#pool.idleCount : 0;
  }

  /** A new entity manager with an empty identity map. */
  em(): EntityManager {
    return this.orm.em.fork();
  }

  /** For single statements, each a transaction of its own: without the ORM, which has no part in them. */
  readonly direct = {
    query: async <Row>(text: string, parameters?: readonly unknown[]): Promise<Row[]> =>
      SqlTransaction.single(await this.#getPool(), text, parameters),
  };

  /** Begins a transaction on a connection of its own, which its `end` returns. */
  async begin(): Promise<SqlTransaction> {
    return SqlTransaction.on(await this.#getPool());
  }

  /** An entity manager of a transaction that `begin` began. */
  emOf(transaction: SqlTransaction): EntityManager {
    if (!this.#pool) throw new Error('No transaction has begun');
    const em = this.em();
    em.setTransactionContext(ormContext(this.#pool, transaction));
    return em;
  }

  async #getPool(): Promise<Pool> {
    return (this.#pool ??= await this.orm.em.getConnection().getNativeClient());
  }

  /** Announces within this process that a transaction committed events, deliveries or a snooze. */
  announce<What extends keyof Announcements>(what: What, detail: Announcements[What]): void {
    this.#announcements.emit(what, detail);
  }

  /** Calls `listener` for each announcement of the kind. */
  onAnnounced<What extends keyof Announcements>(what: What, listener: (detail: Announcements[What]) => void): void {
    this.#announcements.on(what, listener);
  }

  /** The current time of the database's clock. */
  async time(): Promise<Date> {
    const [row] = await sql<{ now: string }>(this.em(), 'SELECT clock_timestamp() AS now');
    return moment(row?.now ?? '');
  }

  /** Throws if the database does not answer. */
  async ping(): Promise<void> {
    await sql(this.em(), 'SELECT 1');
  }

  /** Closes the connections when statements that have begun are answered. */
  async close(): Promise<void> {
    // A database that never answered has no pool to wait for.
    const pool = await this.#getPool().catch(() => null);
    // Kysely forgets its pool at once, and so never returns a connection that is being opened: the pool would not end.
    do await sleep(closePollMs);
    while (this.inUse + (pool?.waitingCount ?? 0) > 0);
    await this.orm.close(true);
  }
}
