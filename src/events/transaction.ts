import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../postgres/database.ts';
import type { ConversationDraft, RowChoice } from '../records/conversation-rows.ts';
import type { Conversation, Named } from '../records/conversation.ts';
import { HeldConversations } from '../records/held-conversations.ts';
import { isLockTimeout, isRetryable } from '../postgres/errors.ts';
import { AfterCommit } from './after-commit.ts';
import type { EventName, Subject } from './catalog.ts';
import { Outbox, type BotDecision } from './outbox.ts';

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
  outbox: Outbox;
  conversations: HeldConversations;
  afterCommit: AfterCommit;
}

function wholeOf(database: Database, accountId: number, afterCommit: AfterCommit): Whole {
  return { database, outbox: new Outbox(), conversations: new HeldConversations(accountId), afterCommit };
}

/**
 * One transaction of one account, its unit of work: it hands out conversations, takes down what happens, and writes both
 * when it commits. Other rows change through `em`.
 */
export class Transaction {
  readonly em: EntityManager;
  readonly account: Named;
  readonly actor: Actor;
  /** The business time of everything in it. */
  readonly now: Date;
  readonly #whole: Whole;

  constructor(em: EntityManager, { account, actor, now }: Scope, whole: Whole) {
    this.em = em;
    this.account = account;
    this.actor = actor;
    this.now = now;
    this.#whole = whole;
  }

  /** The same transaction on behalf of another. */
  as(actor: Actor): Transaction {
    return new Transaction(this.em, { account: this.account, actor, now: this.now }, this.#whole);
  }

  /**
   * A conversation of the account, locked until the transaction ends; null when there is none. It is read once: whoever
   * asks again gets the same object. What is changed on it is written at the commit.
   */
  conversation(id: number): Promise<Conversation | null> {
    return this.#whole.conversations.lock(this.em, id);
  }

  /** Many conversations, locked in one statement, in the order of their ids. */
  conversations(choice: RowChoice): Promise<Conversation[]> {
    return this.#whole.conversations.lockMany(this.em, choice);
  }

  /** A new conversation; what is changed on it afterwards is written at the commit, too. */
  insertConversation(draft: ConversationDraft): Promise<Conversation> {
    return this.#whole.conversations.insert(this.em, draft, this.now);
  }

  /** Deletes the rows of locked conversations, and what hangs on them. */
  deleteConversations(conversations: readonly Conversation[]): Promise<void> {
    return this.#whole.conversations.delete(this.em, conversations);
  }

  /**
   * Says that an event happened, as its subject stands now: one delivery for each subscriber commits with it. `bot` is what
   * the arbiter decided of the conversation's bot, null when that is told nothing.
   */
  record(name: EventName, subject: Subject, bot: BotDecision | null = null): void {
    this.#whole.outbox.record(name, subject, { depth: this.actor.depth, bot });
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

  /**
   * Runs `work` as a part that can fail alone: what it wrote, changed and said is undone with it, its locks are let go. What
   * it changed is written when it ends, so that statements see it.
   */
  async savepoint<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const { outbox, conversations, afterCommit } = this.#whole;
    const undo = [outbox.mark(), conversations.mark(), afterCommit.mark()];
    try {
      return await this.em.transactional(async (em) => {
        const result = await work(new Transaction(em, this, this.#whole));
        await em.flush();
        await conversations.write(em);
        return result;
      });
    } catch (error) {
      for (const forget of undo) forget();
      throw error;
    }
  }

  /** Writes what it changed and said; part of its commit. */
  async flush(): Promise<void> {
    const { database, outbox, conversations } = this.#whole;
    await this.em.flush();
    await conversations.write(this.em);
    const { events, touched } = await outbox.flush(this.em, this.account.id);
    if (events > 0) this.afterCommit(() => database.announce('events', events));
    if (touched.length > 0) this.afterCommit(() => database.announce('deliveries', touched));
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
  const forget = afterCommit.mark();
  try {
    return await em.transactional((inner) =>
      perform(new Transaction(inner, scope, wholeOf(database, scope.account.id, afterCommit)), work),
    );
  } catch (error) {
    forget();
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
    const whole = wholeOf(database, scope.account.id, afterCommit);
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
