import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../postgres/database.ts';
import { isLockTimeout, isRetryable } from '../postgres/errors.ts';
import type { ConversationDraft, RowChoice } from '../records/conversation-rows.ts';
import type { Conversation, Named } from '../records/conversation.ts';
import type { EventName, Subject } from './catalog.ts';
import type { BotDecision } from './outbox.ts';
import { UnitOfWork } from './unit-of-work.ts';

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

/** Whose account, and on whose behalf. */
interface Scope {
  account: Named;
  actor: Actor;
}

/** A transaction in no account: of persons, system bots, and accounts themselves. Rows change through `em`. */
export class OuterTransaction {
  protected readonly unit: UnitOfWork;

  constructor(unit: UnitOfWork) {
    this.unit = unit;
  }

  /** The entity manager of the transaction, or of the savepoint that is open in it. */
  get em(): EntityManager {
    return this.unit.em;
  }

  /** The business time of everything in it. */
  get now(): Date {
    return this.unit.now;
  }

  /** The account that it is in; null for none. */
  readonly accountId: number | null = null;

  /** The same transaction in an account, in the name of the service. */
  in(account: Named): Transaction {
    return new Transaction(this.unit, { account, actor: system });
  }

  /**
   * Begins `work` after the outermost commit, never inside the transaction: mail, announcements, whatever talks to others.
   * Forgotten when the transaction, or the savepoint it was said in, is undone. `work` must not wait for anything: what
   * takes time it only begins.
   */
  afterCommit(work: () => void): void {
    this.unit.afterCommit.add(work);
  }

  /**
   * Runs `work` as a part that can fail alone: what it wrote, changed and said is undone with it, its locks are let go. What
   * it changed and said is written when it ends.
   */
  savepoint<Result>(work: (tx: this) => Promise<Result>): Promise<Result> {
    return this.unit.savepoint(
      () => work(this),
      () => this.unit.flush(),
    );
  }

  /** Writes what it changed and said; part of its commit. */
  flush(): Promise<void> {
    return this.unit.flush();
  }
}

/**
 * A transaction in one account, on somebody's behalf, and its unit of work: it hands out conversations, takes down what
 * happens, and writes both when it commits.
 */
export class Transaction extends OuterTransaction {
  readonly account: Named;
  readonly actor: Actor;
  override readonly accountId: number;

  constructor(unit: UnitOfWork, { account, actor }: Scope) {
    super(unit);
    this.account = account;
    this.actor = actor;
    this.accountId = account.id;
  }

  /** The same transaction on behalf of another. */
  as(actor: Actor): Transaction {
    return new Transaction(this.unit, { account: this.account, actor });
  }

  /**
   * A conversation of the account, locked until the transaction ends; null when there is none. It is read once: whoever
   * asks again gets the same object. What is changed on it is written at the commit.
   */
  conversation(id: number): Promise<Conversation | null> {
    return this.#part.conversations.lock(this.em, id);
  }

  /** Many conversations, locked in one statement, in the order of their ids. */
  conversations(choice: RowChoice): Promise<Conversation[]> {
    return this.#part.conversations.lockMany(this.em, choice);
  }

  /** A new conversation; what is changed on it afterwards is written at the commit, too. */
  insertConversation(draft: ConversationDraft): Promise<Conversation> {
    return this.#part.conversations.insert(this.em, draft, this.now);
  }

  /** Deletes the rows of locked conversations, and what hangs on them. */
  deleteConversations(conversations: readonly Conversation[]): Promise<void> {
    return this.#part.conversations.delete(this.em, conversations);
  }

  /**
   * Says that an event happened, as its subject stands now: one delivery for each subscriber commits with it. `bot` is what
   * the arbiter decided of the conversation's bot, null when that is told nothing.
   */
  record(name: EventName, subject: Subject, bot: BotDecision | null = null): void {
    this.#part.outbox.record(name, subject, { depth: this.actor.depth, bot });
  }

  /** Tells the alarm clock, after the commit, of a snooze that ends then. */
  announceSnooze(until: Date): void {
    this.afterCommit(() => this.unit.database.announce('snooze', until));
  }

  /** Like that of any transaction; events are written with those of the rest, at the commit. */
  override savepoint<Result>(work: (tx: this) => Promise<Result>): Promise<Result> {
    return this.unit.savepoint(
      () => work(this),
      () => this.unit.writeRows(),
    );
  }

  get #part() {
    return this.unit.part(this.account.id);
  }
}

/** Runs work in a transaction: one of its own, or a savepoint of the one that holds a whole request together. */
export type Transact<Tx = Transaction> = <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>;

/** Whatever runs work in no account, to run it in one, in the name of the service. */
export function within(outside: Transact<OuterTransaction>, account: Named): Transact {
  return (work) => outside((outer) => work(outer.in(account)));
}

async function commitOnce<Result>(database: Database, work: (unit: UnitOfWork) => Promise<Result>): Promise<Result> {
  const { result, afterCommit } = await database.em().transactional(async (em) => {
    const unit = new UnitOfWork(database, em);
    const done = await work(unit);
    await unit.flush();
    return { result: done, afterCommit: unit.afterCommit };
  });
  afterCommit.begin(database.failed);
  return result;
}

const tries = 5;

async function commitWithRetries<Result>(
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

/**
 * Runs `work` in one transaction in an account, and commits its rows, events and deliveries together; whatever it throws
 * undoes all of it. It is run again from the start after a deadlock or a serialization failure (and, where the pool is for
 * it, after waiting too long for a lock), so it must not do anything but talk to the database; what is to follow the commit
 * it gives to `afterCommit`.
 */
export function transact<Result>(
  database: Database,
  scope: Scope,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return commitWithRetries(database, (unit) => work(new Transaction(unit, scope)));
}

/** Like transact, in no account. */
export function transactOutside<Result>(
  database: Database,
  work: (tx: OuterTransaction) => Promise<Result>,
): Promise<Result> {
  return commitWithRetries(database, (unit) => work(new OuterTransaction(unit)));
}
