import { enqueue } from '../deliveries/lanes/enqueue.ts';
import type { Database } from '../postgres/database.ts';
import { isLockTimeout, isOutage, isRetryable } from '../postgres/errors.ts';
import type { Sql } from '../postgres/sql.ts';
import type { SqlTransaction, Statement } from '../postgres/sql-transaction.ts';
import type { TouchedEndpoint } from '../postgres/wake-calls.ts';
import { writeSet } from '../postgres/write-set.ts';
import { writeConversations } from '../records/conversations/held-changes.ts';
import { HeldConversations } from '../records/conversations/held.ts';
import { insertMessages, type Message } from '../records/messages/message.ts';
import { announce } from './announcements.ts';
import { formatEvents } from './formats/format-events.ts';
import { wantsAny } from './formats/surroundings.ts';
import type { RecordedEvent } from './outbox.ts';

/** Writes of a transaction in one account. */
export interface Part {
  readonly conversations: HeldConversations;
  /** Messages to insert. */
  messages: Message[];
  /** Recorded events, with a delivery to make for each subscriber. */
  events: RecordedEvent[];
  /** Whether a subscriber may want bodies in another format; null until the database has answered. */
  isFormatWanted: boolean | null;
  readonly formatAnswered: Promise<void>;
}

/** A statement that is sent with the commit; `answered` gets its rows once it is committed. */
export interface LastStatement extends Statement {
  answered?: ((rows: never[]) => void) | undefined;
}

/**
 * The state of one database transaction, shared by its views (Transaction, OuterTransaction): conversations and events by
 * account, and the work after its commit.
 */
export class UnitOfWork {
  readonly database: Database;
  /** Runs statements in the transaction. */
  readonly sql: Sql;
  /** The business time of the whole transaction. */
  readonly now: Date;
  /** Pending writes by account id. */
  readonly parts = new Map<number, Part>();
  readonly #afterCommit: (() => void)[] = [];
  readonly #atCommit: LastStatement[] = [];
  /** False when the work runs again after a presumption may have been wrong. */
  readonly mayPresume: boolean;
  #hasPresumed = false;
  readonly #transaction: SqlTransaction;

  constructor(database: Database, transaction: SqlTransaction, mayPresume: boolean) {
    this.database = database;
    this.#transaction = transaction;
    this.sql = transaction.sql;
    this.mayPresume = mayPresume;
    this.now = database.clock.now();
  }

  /** Returns the account's pending writes. Reads wanted formats along with the next statement, which saves a round trip. */
  partOf(accountId: number): Part {
    const known = this.parts.get(accountId);
    if (known) return known;
    const { promise, resolve } = Promise.withResolvers<void>();
    const fresh = { isFormatWanted: null, formatAnswered: promise };
    const part: Part = { conversations: new HeldConversations(), messages: [], events: [], ...fresh };
    this.parts.set(accountId, part);
    const answered = wantsAny(this.sql, accountId).then((isWanted) => void (part.isFormatWanted = isWanted));
    // Its failure is that of the statement after it.
    answered.catch(() => undefined).finally(resolve);
    return part;
  }

  /** Starts `work` after the outermost commit; never inside the transaction, and never after a rollback. */
  afterCommit(work: () => void): void {
    this.#afterCommit.push(work);
  }

  /** Sends a statement that verifies a presumption. Its failure is that of the statements after it. */
  presume({ text, parameters }: Statement): void {
    this.#hasPresumed = true;
    this.sql(text, parameters).catch(() => undefined);
  }

  /** Whether the error may come of a presumption, so that the work is to be done again without. */
  mayHaveMisled(error: unknown): boolean {
    return this.mayPresume && this.#hasPresumed && !isOutage(error);
  }

  /** Sends a statement with the commit, after those that were added before it; if it fails, nothing is committed. */
  atCommit(statement: LastStatement): void {
    this.#atCommit.push(statement);
  }

  /**
   * Runs `work` and then `ending` in a savepoint. If either fails, the changes, locked conversations, events and work after
   * the commit since its beginning are forgotten.
   */
  async savepoint<Result>(work: () => Promise<Result>, ending: () => Promise<void>): Promise<Result> {
    const undo = this.#mark();
    try {
      return await this.#transaction.savepoint(async () => {
        const result = await work();
        await ending();
        return result;
      });
    } catch (error) {
      undo();
      throw error;
    }
  }

  #mark(): () => void {
    const parts = new Map(this.parts);
    const [length, statements] = [this.#afterCommit.length, this.#atCommit.length];
    const undo: (() => void)[] = [];
    for (const part of parts.values()) {
      const [messages, events] = [[...part.messages], [...part.events]];
      undo.push(part.conversations.mark(), () => Object.assign(part, { messages, events }));
    }
    return () => {
      this.#afterCommit.length = length;
      this.#atCommit.length = statements;
      for (const id of this.parts.keys()) if (!parts.has(id)) this.parts.delete(id);
      for (const forget of undo) forget();
    };
  }

  /** Writes the changed rows, so that later statements see them. */
  async writeRows(): Promise<void> {
    for (const [accountId, part] of this.parts) await this.#writeRowsOf(accountId, part);
  }

  async #writeRowsOf(accountId: number, { conversations, messages }: Part): Promise<void> {
    const statement = writeSet(accountId, [
      ...writeConversations(conversations.byId.values()),
      ...insertMessages(messages.splice(0)),
    ]);
    if (statement) await this.sql(statement.text, statement.parameters);
  }

  // In one round trip, of accounts with subscribers that want bodies in another format: of others nothing is asked.
  async #format(): Promise<void> {
    const links = this.database.fileLinks;
    for (const [accountId, part] of this.parts) {
      const events = part.events.filter(({ kept }) => kept !== null);
      if (events.length === 0) continue;
      await part.formatAnswered;
      if (!part.isFormatWanted) continue;
      await Promise.all([
        this.#writeRowsOf(accountId, part),
        formatEvents({ sql: this.sql, links }, accountId, events),
      ]);
    }
  }

  /** Writes the changed rows and the events. */
  async flush(): Promise<void> {
    await this.#format();
    for (const { text, parameters, answered } of this.#writes()) {
      answered?.(await this.sql(text, parameters));
    }
  }

  /** Writes the changed rows and the events, commits, and starts the work after the commit. */
  async commit(): Promise<void> {
    await this.#format();
    const last = [...this.#atCommit, ...this.#writes()];
    const rows = await this.#transaction.commit<never>(last);
    last.forEach(({ answered }, index) => answered?.(rows[index] ?? []));
    for (const work of this.#afterCommit) {
      try {
        work();
      } catch (error) {
        // The transaction is committed, and the rest is started too.
        this.database.failed(error);
      }
    }
  }

  // A single statement per account: conversations, messages, events, deliveries and lanes.
  #writes(): LastStatement[] {
    const { database } = this;
    return Array.from(this.parts, ([accountId, part]) => {
      const [messages, events] = [part.messages.splice(0), part.events.splice(0)];
      const rows = [
        ...writeConversations(part.conversations.byId.values()),
        ...insertMessages(messages),
        ...enqueue(events),
      ];
      const statement = writeSet(accountId, rows);
      if (!statement) return [];
      const answered = (touched: Omit<TouchedEndpoint, 'accountId'>[]): void => {
        if (events.length === 0) return;
        const deliveries = touched.map((endpoint) => ({ ...endpoint, accountId }));
        this.afterCommit(() => announce(database, 'committed', { events: true, deliveries }));
      };
      return [{ ...statement, answered }];
    }).flat();
  }
}

type Work<Result> = (unit: UnitOfWork) => Promise<Result>;

/** Verifies an assumption of the work; its error refuses the work, whatever the result. */
export interface Proof {
  verify(sql: Sql): Promise<void>;
  /** The transaction in which it was verified has committed. */
  committed(): void;
}

/** A failure that may follow from a wrong presumption: the work is run again without presumptions. */
class Misled extends Error {}

async function commitOnce<Result>(
  database: Database,
  work: Work<Result>,
  { proof, mayPresume }: { proof: Proof | null; mayPresume: boolean },
): Promise<Result> {
  const transaction = await database.begin();
  const unit = new UnitOfWork(database, transaction, mayPresume);
  try {
    // Sent with BEGIN and the first statement of the work, and answered before that.
    const [verified, done] = await Promise.allSettled([proof?.verify(unit.sql), work(unit)]);
    if (verified.status === 'rejected') throw verified.reason;
    if (done.status === 'rejected') throw done.reason;
    await unit.commit();
    proof?.committed();
    return done.value;
  } catch (error) {
    throw unit.mayHaveMisled(error) ? new Misled('The transaction presumed something', { cause: error }) : error;
  } finally {
    await transaction.end();
  }
}

const tries = 5;

/**
 * Runs `work` and commits. After a deadlock or a serialization failure (on the engine's pool after a lock timeout too) it is
 * run again from the start, and when it fails after it presumed something, without presumptions.
 */
export async function commitWithRetries<Result>(
  database: Database,
  work: Work<Result>,
  proof: Proof | null = null,
): Promise<Result> {
  let mayPresume = true;
  for (let attempt = 1; ; attempt++) {
    try {
      return await commitOnce(database, work, { proof, mayPresume });
    } catch (error) {
      mayPresume = false;
      if (error instanceof Misled) continue;
      const mayPass = isRetryable(error) || (database.retriesLocks && isLockTimeout(error));
      if (attempt >= tries || !mayPass) throw error;
    }
  }
}
