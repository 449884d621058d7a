import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../postgres/database.ts';
import type { Named } from '../records/conversation.ts';
import { isLockTimeout, isRetryable } from '../postgres/errors.ts';
import { AfterCommit } from './after-commit.ts';
import { flushOutbox, type RecordedEvent } from './outbox.ts';

/**
 * On whose behalf something is done. `depth` counts how many bot runs stand between a customer's word and this: 0 for
 * people, one more than that of the event it answers for a bot.
 */
export interface Actor {
  kind: 'user' | 'agent_bot' | 'contact' | 'system';
  /** Null for the service, and for a contact that is not there yet. */
  id: number | null;
  name: string;
  /** A user's role in the account; null for everybody else. */
  role: 'administrator' | 'agent' | null;
  email: string | null;
  avatarUrl: string | null;
  depth: number;
}

/** The service itself: alarms, and the consequences of failures. */
export const system: Actor = {
  kind: 'system',
  id: null,
  name: 'Switchboard',
  role: null,
  email: null,
  avatarUrl: null,
  depth: 0,
};

/** Who does what, in which account, and when: the business time of everything in the transaction. */
interface Scope {
  account: Named;
  actor: Actor;
  now: Date;
}

/** What parts of a transaction have in common with the whole. */
interface Whole {
  database: Database;
  recorded: RecordedEvent[];
  afterCommit: AfterCommit;
}

/** One transaction of one account: rows change through `em`, events are said through `record`. */
export class Transaction {
  readonly em: EntityManager;
  readonly account: Named;
  readonly actor: Actor;
  /** The business time of everything in it. */
  readonly now: Date;
  /** The events said so far, in order. */
  readonly recorded: RecordedEvent[];
  readonly #whole: Whole;

  constructor(em: EntityManager, { account, actor, now }: Scope, whole: Whole) {
    this.em = em;
    this.account = account;
    this.actor = actor;
    this.now = now;
    this.recorded = whole.recorded;
    this.#whole = whole;
  }

  /** The same transaction on behalf of another. */
  as(actor: Actor): Transaction {
    return new Transaction(this.em, { account: this.account, actor, now: this.now }, this.#whole);
  }

  /**
   * Begins `work` after the outermost commit, never inside the transaction: mail, announcements, whatever talks to others.
   * Forgotten when the transaction, or the savepoint it was said in, is undone. `work` must not wait for anything: what
   * takes time it only begins.
   */
  afterCommit(work: () => void): void {
    this.#whole.afterCommit.add(work);
  }

  /** Tells the alarm clock, after the commit, of a snooze that ends then. */
  announceSnooze(until: Date): void {
    this.afterCommit(() => this.#whole.database.announce('snooze', until));
  }

  /** Runs `work` as a part that can fail alone: what it wrote and said is undone with it, its locks are let go. */
  async savepoint<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const { recorded, afterCommit } = this.#whole;
    const [events, works] = [recorded.length, afterCommit.size];
    try {
      return await this.em.transactional((em) => work(new Transaction(em, this, this.#whole)));
    } catch (error) {
      recorded.length = events;
      afterCommit.forgetSince(works);
      throw error;
    }
  }

  /** Writes what it changed and said; part of its commit. */
  async flush(): Promise<void> {
    await this.em.flush();
    const touched = await flushOutbox(this);
    const { length: events } = this.recorded;
    if (events > 0) this.afterCommit(() => this.#whole.database.announce('events', events));
    if (touched.length > 0) this.afterCommit(() => this.#whole.database.announce('deliveries', touched));
  }
}

/** Runs work in a transaction of an account's own. */
export type TransactIn = <Result>(account: Named, work: (tx: Transaction) => Promise<Result>) => Promise<Result>;

const tries = 5;

async function retrying<Result>(
  work: () => Promise<Result>,
  mayRetry: (error: unknown) => boolean = isRetryable,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= tries || !mayRetry(error)) throw error;
    }
  }
}

/**
 * Runs `work` in one database transaction, again from the start after a deadlock or a serialization failure (and, where
 * the pool is for it, after waiting too long for a lock), so it must not do anything but talk to the database; what is to
 * follow the commit it gives to `afterCommit`.
 */
export function commit<Result>(
  database: Database,
  work: (em: EntityManager, afterCommit: AfterCommit) => Promise<Result>,
): Promise<Result> {
  return retrying(
    async () => {
      const afterCommit = new AfterCommit();
      const result = await database.em().transactional((em) => work(em, afterCommit));
      afterCommit.begin(database.failed);
      return result;
    },
    (error) => isRetryable(error) || (database.retriesLocks && isLockTimeout(error)),
  );
}

async function perform<Result>(tx: Transaction, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  const answer = await work(tx);
  await tx.flush();
  return answer;
}

/** Runs `work` as the part of one account in a transaction that `commit` has begun. */
export async function transactWithin<Result>(
  { em, database, afterCommit }: { em: EntityManager; database: Database; afterCommit: AfterCommit },
  scope: Scope,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const works = afterCommit.size;
  try {
    return await em.transactional((inner) =>
      perform(new Transaction(inner, scope, { database, afterCommit, recorded: [] }), work),
    );
  } catch (error) {
    afterCommit.forgetSince(works);
    throw error;
  }
}

/**
 * Runs `work` in one transaction and commits its rows, events and deliveries together; whatever it throws undoes all
 * of it. It is run again as `commit` says.
 */
export function transact<Result>(
  database: Database,
  scope: { account: Named; actor: Actor },
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return commit(database, (em, afterCommit) => {
    const whole = { database, afterCommit, recorded: [] };
    return perform(new Transaction(em, { ...scope, now: database.clock.now() }, whole), work);
  });
}

/**
 * Runs work that belongs to no account in one transaction, again after a deadlock; within a transaction that is under way
 * as a part of that.
 */
export function transactOutsideAccounts<Result>(
  em: EntityManager,
  work: (inner: EntityManager) => Promise<Result>,
): Promise<Result> {
  return retrying(
    () => em.transactional(work),
    (error) => {
      if (em.isInTransaction() || !isRetryable(error)) return false;
      // What it read before is of the transaction that was undone.
      em.clear();
      return true;
    },
  );
}
