import type { Database } from '../postgres/database.ts';
import type { Sql } from '../postgres/sql.ts';
import type { Statement } from '../postgres/sql-transaction.ts';
import type { Presumed } from '../records/conversations/presumed.ts';
import type { ConversationDraft, RowChoice } from '../records/conversations/locked.ts';
import type { Conversation, Named } from '../records/conversations/conversation.ts';
import { nextMessageId, type Message, type MessageDraft } from '../records/messages/message.ts';
import { announce, type Announcements } from './announcements.ts';
import { catalog, type Cause, type Entry, type EventName, type Subject } from './catalog.ts';
import { eventOf, type BotDecision } from './outbox.ts';
import { commitWithRetries, type LastStatement, type Part, type Proof, type UnitOfWork } from './unit-of-work.ts';

/**
 * On whose behalf something is done. `depth` is the number of runs, and calls of other systems, between a person's action and
 * this one: 0 for people, for a run one more than that of the event it handles, for a call one more than that of the event
 * whose `switchboard-trace` it repeats. For a bot's call it may be more than said here: see NewEvent.
 */
export interface Actor {
  kind: 'user' | 'agent_bot' | 'automation' | 'contact' | 'system';
  /** Null for the service, and for a visitor who is no contact yet. */
  id: number | null;
  name: string;
  /** An agent's role in the account; null for everybody else. */
  role: 'administrator' | 'agent' | null;
  email: string | null;
  avatarUrl: string | null;
  depth: number;
  /** Whether it calls the REST API, by its token; absent for runs and the service. */
  calls?: true;
  /** The inboxes in which an automation may act; null, and absent for everybody else, for all. */
  inboxIds?: readonly number[] | null;
}

/** The service itself: sweeps, and the consequences of failures. */
export const system: Actor = {
  kind: 'system',
  id: null,
  name: 'Switchboard',
  role: null,
  email: null,
  avatarUrl: null,
  depth: 0,
};

/** The account of a transaction, and on whose behalf it acts. */
export interface Scope {
  account: Named;
  actor: Actor;
  /** Verifies the actor in the transaction; its error refuses the whole of it. */
  proof?: Proof | null;
}

/** A transaction outside of accounts, for persons, system bots, and accounts themselves. */
export class OuterTransaction {
  protected readonly unit: UnitOfWork;
  /** Runs a statement in the transaction; with all that is asked for before any is awaited, it is one round trip. */
  readonly sql: Sql;
  /** The business time of the whole transaction. */
  readonly now: Date;

  constructor(unit: UnitOfWork) {
    this.unit = unit;
    this.sql = unit.sql;
    this.now = unit.now;
  }

  /** The account's id; null outside of accounts. */
  readonly accountId: number | null = null;

  /** The same transaction within an account, with the service as actor. */
  in(account: Named): Transaction {
    return new Transaction(this.unit, { account, actor: system });
  }

  /**
   * Starts `work` after the outermost commit, never inside the transaction: mail, announcements, everything that talks to
   * other systems. It is forgotten when the transaction, or the savepoint in which it was added, is rolled back. `work` is
   * synchronous: it may start slow work but not wait for it.
   */
  afterCommit(work: () => void): void {
    this.unit.afterCommit(work);
  }

  /**
   * Sends a statement together with the commit, in the same round trip: after those that were added before it, and before what
   * the transaction writes by itself. If it fails, nothing is committed.
   */
  atCommit(statement: LastStatement): void {
    this.unit.atCommit(statement);
  }

  /** Whether the transaction may presume what it would otherwise ask for; not when it is run again because that was wrong. */
  get mayPresume(): boolean {
    return this.unit.mayPresume;
  }

  /**
   * Sends a statement that verifies what is presumed from here on, without waiting for it: together with whatever is asked for
   * next. If it fails, everything is rolled back and run again without presumptions, whatever the work made of them.
   */
  presume(verifying: Statement): void {
    this.unit.presume(verifying);
  }

  /** Announces something to this process after the commit. */
  announce<Topic extends keyof Announcements>(topic: Topic, value: Announcements[Topic]): void {
    this.afterCommit(() => announce(this.unit.database, topic, value));
  }

  /**
   * Runs `work` in a savepoint. If it fails, its writes, changed objects, events and locks are rolled back with it; if it
   * succeeds, its changes and events are written at its end.
   */
  savepoint<Result>(work: (tx: this) => Promise<Result>): Promise<Result> {
    return this.unit.savepoint(
      () => work(this),
      () => this.unit.flush(),
    );
  }

  /** Writes the changes and events, so that later statements see them. */
  flush(): Promise<void> {
    return this.unit.flush();
  }
}

/**
 * A transaction in one account, on somebody's behalf. It is a unit of work: it hands out conversations, records events, and
 * writes both at its commit.
 */
export class Transaction extends OuterTransaction {
  readonly account: Named;
  readonly actor: Actor;
  override readonly accountId: number;
  readonly #part: Part;

  constructor(unit: UnitOfWork, { account, actor }: Scope) {
    super(unit);
    this.account = account;
    this.actor = actor;
    this.accountId = account.id;
    this.#part = unit.partOf(account.id);
  }

  /** The same transaction with another actor. */
  as(actor: Actor): Transaction {
    return new Transaction(this.unit, { account: this.account, actor });
  }

  /**
   * A conversation of the account, locked until the transaction ends; null when there is none. It is read once: later calls
   * return the same object. Changes of the object are written at the commit.
   */
  conversation(id: number): Promise<Conversation | null> {
    return this.#part.conversations.lock(this, id);
  }

  /** Holds a conversation as it was read before, which `verifying` locks and compares: see presume. */
  presumeConversation(presumed: Presumed, verifying: Statement): Conversation {
    this.presume(verifying);
    return this.#part.conversations.presume(presumed);
  }

  /** Whether the conversation is locked already. */
  holds(id: number): boolean {
    return this.#part.conversations.holds(id);
  }

  /** Conversations locked by one statement, in the order of their ids. */
  conversations(choice: RowChoice): Promise<Conversation[]> {
    return this.#part.conversations.lockMany(this, choice);
  }

  /** Creates a conversation, to be inserted at the commit; null without its inbox or contact. */
  createConversation(draft: ConversationDraft): Promise<Conversation | null> {
    return this.#part.conversations.create(this, draft, this.now);
  }

  /**
   * Adds a message to a conversation that the transaction holds, to be inserted at the commit, and records message_created
   * with the arbiter's decision.
   */
  async say(conversation: Conversation, draft: MessageDraft, bot: BotDecision | null): Promise<Message> {
    const { conversations, messages } = this.#part;
    const id = conversations.messageIds.get(conversation.id) ?? (await nextMessageId(this.sql));
    conversations.messageIds.delete(conversation.id);
    const message = { ...draft, externalError: null, id, conversationId: conversation.id };
    messages.push(message);
    this.record('message_created', { conversation, message }, bot);
    return message;
  }

  /** See HeldConversations. */
  get botMessages(): Map<number, number> {
    return this.#part.conversations.botMessages;
  }

  /** The messages of the transaction that are not inserted yet. */
  get unwritten(): readonly Message[] {
    return this.#part.messages;
  }

  /** Deletes locked conversations, with the rows that refer to them. */
  deleteConversations(conversations: readonly Conversation[]): Promise<void> {
    return this.#part.conversations.delete(this, conversations);
  }

  /**
   * Records an event with its subject's present state; it is committed with a delivery for each subscriber. `bot` is the
   * arbiter's decision on the conversation's bot; null when bots do not receive the event. With an `automationId`, it is for
   * that automation alone, which gets the body for bots where accounts have none.
   */
  record(name: EventName, subject: Subject, bot: BotDecision | null = null, automationId: number | null = null): void {
    const { database } = this.unit;
    const isFormatWanted = this.#part.isFormatWanted ?? true;
    const { kind, id, depth, calls = false } = this.actor;
    const requestedBy = kind === 'agent_bot' && calls ? id : null;
    const causedBy = kind === 'automation' ? id : null;
    const actor = actorTold(this.actor, name);
    const caused = { depth, actor, requestedBy, causedBy };
    this.#part.events.push(
      eventOf(name, subject, { ...caused, bot, automationId, links: database.fileLinks, isFormatWanted }),
    );
  }

  /** Like OuterTransaction.savepoint, but events are written at the commit, with all others. */
  override savepoint<Result>(work: (tx: this) => Promise<Result>): Promise<Result> {
    return this.unit.savepoint(
      () => work(this),
      () => this.unit.writeRows(),
    );
  }
}

/** The actor that an event of accounts names; null for the service. */
export function actorTold({ kind, id, name }: Actor, event: EventName): Cause['actor'] {
  if (kind === 'system' || id === null) return null;
  const { ends }: Entry = catalog[event];
  // An event that tells of a deletion is kept: its body holds ids only.
  return ends && kind === 'contact' ? null : { type: kind, id, name };
}

/** Runs work in a transaction: in one of its own, or in a savepoint of the transaction of the whole request. */
export type Transact<Tx = Transaction> = <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>;

/** Turns transactions outside of accounts into transactions in an account, with the service as actor. */
export function within(outside: Transact<OuterTransaction>, account: Named): Transact {
  return (work) => outside((outer) => work(outer.in(account)));
}

/**
 * Runs `work` in one transaction in an account, and commits its rows, events and deliveries together; an error rolls back
 * all of them. After a deadlock or a serialization failure (on the engine's pool after a lock timeout too) `work` is run
 * again from the start, so it must do nothing but talk to the database; everything else it adds to `afterCommit`.
 */
export function transact<Result>(
  database: Database,
  scope: Scope,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return commitWithRetries(database, (unit) => work(new Transaction(unit, scope)), scope.proof);
}

/** Like transact, outside of accounts. */
export function transactOutside<Result>(
  database: Database,
  work: (tx: OuterTransaction) => Promise<Result>,
  proof: Proof | null = null,
): Promise<Result> {
  return commitWithRetries(database, (unit) => work(new OuterTransaction(unit)), proof);
}
