import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database, TouchedEndpoint } from '../postgres/database.ts';
import { isLockTimeout, isRetryable } from '../postgres/errors.ts';
import { sql } from '../postgres/sql.ts';
import type { SqlTransaction, Statement } from '../postgres/sql-transaction.ts';
import { writeSet } from '../postgres/write-set.ts';
import { HeldConversations } from '../records/held-conversations.ts';
import { Outbox } from './outbox.ts';

/** The locked conversations and recorded events of a transaction in one account. */
interface Part {
  conversations: HeldConversations;
  outbox: Outbox;
}

/**
 * The state of one database transaction, shared by its views (Transaction, OuterTransaction): conversations and events by
 * account, and the work after its commit.
 */
export class UnitOfWork {
  readonly database: Database;
  /** The connection of the transaction, for statements. */
  readonly connection: SqlTransaction;
  /** The business time of the whole transaction. */
  readonly now: Date;
  readonly #parts = new Map<number, Part>();
  readonly #afterCommit: (() => void)[] = [];
  #em: EntityManager | null = null;

  constructor(database: Database, connection: SqlTransaction) {
    this.database = database;
    this.connection = connection;
    this.now = database.clock.now();
  }

  /** The entity manager of the innermost open savepoint. */
  get em(): EntityManager {
    return (this.#em ??= this.database.emOf(this.connection));
  }

  part(accountId: number): Part {
    const known = this.#parts.get(accountId);
    if (known) return known;
    const part = { conversations: new HeldConversations(accountId), outbox: new Outbox() };
    this.#parts.set(accountId, part);
    return part;
  }

  /** Starts `work` after the outermost commit; never inside the transaction, and never after a rollback. */
  afterCommit(work: () => void): void {
    this.#afterCommit.push(work);
  }

  /**
   * Runs `work` and then `ending` in a savepoint. If either fails, the changes, locked conversations, events and work after
   * the commit since its beginning are forgotten.
   */
  async savepoint<Result>(work: () => Promise<Result>, ending: () => Promise<void>): Promise<Result> {
    const outer = this.em;
    const undo = this.#mark();
    try {
      return await outer.transactional(async (em) => {
        this.#em = em;
        const result = await work();
        await ending();
        return result;
      });
    } catch (error) {
      undo();
      throw error;
    } finally {
      this.#em = outer;
    }
  }

  #mark(): () => void {
    const parts = new Map(this.#parts);
    const { length } = this.#afterCommit;
    const undo: (() => void)[] = [];
    for (const { conversations, outbox } of parts.values()) undo.push(conversations.mark(), outbox.mark());
    return () => {
      this.#afterCommit.length = length;
      for (const id of this.#parts.keys()) if (!parts.has(id)) this.#parts.delete(id);
      for (const forget of undo) forget();
    };
  }

  /** Writes the changed rows, so that later statements see them. */
  async writeRows(): Promise<void> {
    await this.#em?.flush();
    for (const [accountId, { conversations }] of this.#parts) {
      const statement = writeSet(accountId, conversations.takeChanges());
      if (statement) await sql(this.connection, statement.text, statement.parameters);
    }
  }

  /** Writes the changed rows and the events. */
  async flush(): Promise<void> {
    await this.#em?.flush();
    for (const { statement, tell } of this.#writes()) {
      tell(await sql(this.connection, statement.text, statement.parameters));
    }
  }

  /** Writes the changed rows and the events, commits, and starts the work after the commit. */
  async commit(): Promise<void> {
    await this.#em?.flush();
    const writes = this.#writes();
    const last = writes.pop();
    for (const { statement, tell } of writes) tell(await sql(this.connection, statement.text, statement.parameters));
    const touched = await this.connection.commit<TouchedEndpoint>(last?.statement ?? null);
    last?.tell(touched);
    for (const work of this.#afterCommit) {
      try {
        work();
      } catch (error) {
        // The transaction is committed, and the rest is started too.
        this.database.failed(error);
      }
    }
  }

  // One statement for each account: conversations, messages, events, deliveries and lanes.
  #writes(): { statement: Statement; tell: (touched: Omit<TouchedEndpoint, 'accountId'>[]) => void }[] {
    const { database } = this;
    return Array.from(this.#parts, ([accountId, { conversations, outbox }]) => {
      const { events, parts } = outbox.take();
      const statement = writeSet(accountId, [...conversations.takeChanges(), ...parts]);
      if (!statement) return [];
      const tell = (touched: Omit<TouchedEndpoint, 'accountId'>[]): void => {
        const endpoints = touched.map((endpoint) => ({ ...endpoint, accountId }));
        if (events > 0) this.afterCommit(() => database.announce('events', events));
        if (endpoints.length > 0) this.afterCommit(() => database.announce('deliveries', endpoints));
      };
      return [{ statement, tell }];
    }).flat();
  }
}

async function commitOnce<Result>(database: Database, work: (unit: UnitOfWork) => Promise<Result>): Promise<Result> {
  const connection = await database.begin();
  try {
    const unit = new UnitOfWork(database, connection);
    const result = await work(unit);
    await unit.commit();
    return result;
  } finally {
    await connection.end();
  }
}

const tries = 5;

/**
 * Runs `work` and commits. After a deadlock or a serialization failure (on the engine's pool after a lock timeout too) it is
 * run again from the start.
 */
export async function commitWithRetries<Result>(
  database: Database,
  work: (unit: UnitOfWork) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await commitOnce(database, work);
    } catch (error) {
      const mayPass = isRetryable(error) || (database.retriesLocks && isLockTimeout(error));
      if (attempt >= tries || !mayPass) throw error;
    }
  }
}
