import { EventEmitter } from 'node:events';
import { MikroORM, type EntityClass, type EntityManager } from '@mikro-orm/postgresql';
import { takeBackBroken } from './broken-connections.ts';
import type { Clock } from '../lib/ports.ts';
import { PreparingClient } from './prepared.ts';
import { moment, sql } from './sql.ts';

export interface DatabaseOptions {
  url: string;
  /** Classes of rows that the ORM handles. */
  entities: readonly EntityClass[];
  poolMax: number;
  statementTimeoutMs: number;
  /** Longest wait for a row that another transaction has locked. */
  lockTimeoutMs: number;
  /** How long a transaction may stand still before the database ends it. */
  idleInTransactionTimeoutMs: number;
  /** Whether a transaction that waited too long for a lock is run again: for what nobody waits for. */
  retriesLocks: boolean;
  clock: Clock;
  /** Told of connections that broke and the like; never of values. */
  warn: (message: string) => void;
  /** Told of work that failed where nobody waits for it: after its transaction had committed, or in a sweep. */
  failed: (error: unknown) => void;
  /** Another pool of this process on the same database, whose announcements this one shares. */
  beside?: Database;
}

/** An endpoint for which an account has something new to deliver. */
export interface TouchedEndpoint {
  kind: 'webhook' | 'bot';
  id: number;
  accountId: number;
}

interface Announcements {
  /** How many events were recorded. */
  events: number;
  deliveries: readonly TouchedEndpoint[];
  snooze: Date;
}

/** A pool of connections to PostgreSQL, and the place where committed work is announced within the process. */
export class Database {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly failed: DatabaseOptions['failed'];
  readonly retriesLocks: boolean;
  readonly #announcements: EventEmitter;

  constructor(options: DatabaseOptions) {
    this.clock = options.clock;
    this.failed = options.failed;
    this.retriesLocks = options.retriesLocks;
    this.#announcements = options.beside ? options.beside.#announcements : new EventEmitter();
    this.orm = new MikroORM({
      clientUrl: options.url,
      entities: [...options.entities],
      pool: { min: 0, max: options.poolMax },
      driverOptions: {
        Client: PreparingClient,
        statement_timeout: options.statementTimeoutMs,
        lock_timeout: options.lockTimeoutMs,
        idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs,
        connectionTimeoutMillis: options.statementTimeoutMs,
        application_name: 'switchboard',
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

  /** A fresh unit of work. */
  em(): EntityManager {
    return this.orm.em.fork();
  }

  /** Tells the process that something was committed: events, deliveries to make, or a time to look at. */
  announce<What extends keyof Announcements>(what: What, detail: Announcements[What]): void {
    this.#announcements.emit(what, detail);
  }

  /** Calls back on each announcement of the kind. */
  onAnnounced<What extends keyof Announcements>(what: What, listener: (detail: Announcements[What]) => void): void {
    this.#announcements.on(what, listener);
  }

  /** The database's own time. */
  async time(): Promise<Date> {
    const [row] = await sql<{ now: string }>(this.em(), 'SELECT clock_timestamp() AS now');
    return moment(row?.now ?? '');
  }

  /** Throws unless the database answers. */
  async ping(): Promise<void> {
    await sql(this.em(), 'SELECT 1');
  }

  async close(): Promise<void> {
    await this.orm.close(true);
  }
}
