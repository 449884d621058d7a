import { Transaction, type Actor } from '../../events/transaction.ts';
import type { EventName, Subject } from '../../events/catalog.ts';
import type { BotDecision } from '../../events/outbox.ts';
import type { UnitOfWork } from '../../events/unit-of-work.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import type { Message, MessageDraft } from '../../records/messages/message.ts';
import { sqlOf, type StageRows } from './rows.ts';

/** State of the stage that a transaction changes. */
export interface StageState extends StageRows {
  readonly conversation: Conversation;
  readonly now: Date;
  nextMessageId(): number;
  record(name: EventName, subject: Subject, occasion: StageOccasion): void;
}

/** The circumstances of an event: on whose behalf it happened, the arbiter's decision on the bot, and the only automation that it is for. */
export interface StageOccasion {
  actor: Actor;
  bot: BotDecision | null;
  automationId: number | null;
}

/**
 * The transaction of a simulation: the service's verbs work with it as with any other, and it holds the stage's conversation.
 * The stage undoes the changes of a failed transaction.
 */
export class StageTransaction extends Transaction {
  readonly #stage: StageState;
  readonly #botMessages = new Map<number, number>();
  /** Messages of the transaction so far, by any actor. */
  readonly #said: Message[];

  constructor(stage: StageState, actor: Actor, said: Message[] = []) {
    const { now, conversation } = stage;
    // The parts of a unit of work that verbs reach through the members that this class keeps. A simulation has no agents to notify.
    const unit = {
      now,
      sql: sqlOf(stage),
      partOf: () => null,
      afterCommit: () => undefined,
      atCommit: () => undefined,
    };
    super(unit as unknown as UnitOfWork, { account: conversation.account, actor });
    this.#stage = stage;
    this.#said = said;
  }

  override as(actor: Actor): Transaction {
    return new StageTransaction(this.#stage, actor, this.#said);
  }

  override conversation(id: number): Promise<Conversation | null> {
    const { conversation } = this.#stage;
    return Promise.resolve(conversation.id === id ? conversation : null);
  }

  override say(conversation: Conversation, draft: MessageDraft, bot: BotDecision | null): Promise<Message> {
    const message = { ...draft, externalError: null, id: this.#stage.nextMessageId(), conversationId: conversation.id };
    this.#said.push(message);
    this.record('message_created', { conversation, message }, bot);
    return Promise.resolve(message);
  }

  override get botMessages(): Map<number, number> {
    return this.#botMessages;
  }

  override get unwritten(): readonly Message[] {
    return this.#said;
  }

  override record(
    name: EventName,
    subject: Subject,
    bot: BotDecision | null = null,
    automationId: number | null = null,
  ): void {
    this.#stage.record(name, subject, { actor: this.actor, bot, automationId });
  }

  /** The stage itself knows when snoozes end and calls are due. */
  override announce(): void {}

  override savepoint<Result>(work: (tx: this) => Promise<Result>): Promise<Result> {
    return work(this);
  }
}
