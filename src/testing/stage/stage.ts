import { sayScheduled } from '../../domain/bots/schedules.ts';
import { silenceOf } from '../../domain/conversations/arbiter.ts';
import { wake } from '../../domain/conversations/lifecycle.ts';
import { begin, keepSilence } from '../../domain/conversations/status.ts';
import { bodyOf, type EventName, type Subject } from '../../events/catalog.ts';
import { actorTold, system, type Actor, type Transaction } from '../../events/transaction.ts';
import type { Contact } from '../../records/contacts/contact.ts';
import type { Conversation, Named, SilenceColumn } from '../../records/conversations/conversation.ts';
import { noFileLinks } from '../../lib/file-links.ts';
import type { Message } from '../../records/messages/message.ts';
import type { ServingBot } from '../../records/conversations/serving-bot.ts';
import type { SimulateOptions } from '../api.ts';
import type { ScheduledRow } from './schedule-rows.ts';
import type { StoredRow } from './storage-rows.ts';
import { StageTransaction, type StageOccasion, type StageState } from './transaction.ts';

/** An automation, which hears what happens on a stage whoever serves the conversation. */
export interface HearingAutomation {
  kind: 'automation';
  id: number;
  events: readonly string[];
}

/** An event for which the plugin is to be called. */
export interface StageEvent {
  id: number;
  name: EventName;
  /** Null for an event of the contact. */
  conversationId: number | null;
  depth: number;
  body: string;
}

/** An entry of the transcript. */
export type Happening =
  | { kind: 'message'; message: Message }
  | { kind: 'change'; name: EventName; subject: Subject }
  | { kind: 'called'; event: StageEvent };

const nobody: Named = { id: 1, name: 'Simulated account' };
const inbox = {
  id: 4,
  name: 'Simulated inbox',
  channelType: 'api',
  greets: false,
  autoAssigns: false,
  channelId: null,
};
const contactId = 3;
const conversationId = 2;

/**
 * A conversation in memory, in place of the database: verbs change it in transactions, all or nothing, and their events for
 * its bot, or for an automation, are queued.
 */
export class Stage implements StageState {
  readonly conversation: Conversation;
  readonly contact: Contact;
  readonly messages: Message[] = [];
  readonly teams: string[] = [];
  stored: StoredRow[] = [];
  scheduled: ScheduledRow[] = [];
  readonly #automation: HearingAutomation | null;
  readonly #told: (happening: Happening) => void;
  #events: StageEvent[] = [];
  #happened: Happening[] = [];
  #lastEvent = 0;
  #lastMessage = 0;
  /** The messages of earlier sessions. */
  #earlier = 0;
  now: Date;

  /** `told` is called with every happening, once it is committed. */
  constructor(
    listener: ServingBot | HearingAutomation,
    { contact = {}, now, account = nobody }: Pick<SimulateOptions, 'contact'> & { now: Date; account?: Named },
    told: (happening: Happening) => void,
  ) {
    this.now = now;
    this.#told = told;
    this.#automation = listener.kind === 'automation' ? listener : null;
    const bot = listener.kind === 'automation' ? null : listener;
    this.contact = contactOf(contact, { account, now });
    this.conversation = conversationOf(this.contact, { account, bot, now });
    keepSilence(this.conversation, { byBot: null, byPeople: null, streak: 0 });
    begin(this.conversation, 'contact', { status: null, spoken: false });
  }

  /** The customer, as an actor. */
  get customer(): Actor {
    const { id, name, email = null } = this.contact;
    return { kind: 'contact', id, name, role: null, email, avatarUrl: null, depth: 0 };
  }

  /** Public messages of the bot in the present session, lines of handoffs left out. */
  get replies(): number {
    const isReply = ({ sender, private: isNote, contentAttributes }: Message) =>
      sender.kind === 'agent_bot' && !isNote && !('handoff' in contentAttributes);
    return this.messages.slice(this.#earlier).filter(isReply).length;
  }

  /** Reason why the bot may not speak; null when it may. */
  get silence(): string | null {
    return silenceOf(this.conversation);
  }

  /** Returns the next due moment until `end`: a snooze ends, or a scheduled call of the bot is due; null for none. */
  nextDue(end: Date): Date | null {
    const { status, snoozedUntil } = this.conversation;
    const times = this.scheduled.map(({ at }) => at);
    if (status === 'snoozed' && snoozedUntil) times.push(snoozedUntil);
    const [first] = times.filter((time) => time <= end).sort((one, other) => one.getTime() - other.getTime());
    return first ?? null;
  }

  /** Does all that is due by now. */
  async happen(): Promise<void> {
    const due = this.scheduled.filter(({ at }) => at <= this.now);
    await this.transact(system, async (tx) => {
      await wake(tx, this.conversation.id);
      this.scheduled = this.scheduled.filter((call) => !due.includes(call));
      const isAutomation = this.#automation !== null;
      for (const { botId, ...scheduled } of due)
        sayScheduled(tx, this.conversation, { botId, isAutomation, scheduled });
    });
  }

  /** The oldest event that the plugin has not been called for. */
  takeEvent(): StageEvent | undefined {
    return this.#events.shift();
  }

  /** Runs verbs on behalf of the actor: if they fail, all changes and events are undone. */
  async transact<Result>(actor: Actor, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const before = structuredClone(this.conversation);
    const contact = structuredClone(this.contact);
    const [stored, scheduled] = [structuredClone(this.stored), structuredClone(this.scheduled)];
    const [messages, events, earlier] = [this.messages.length, this.#events.length, this.#earlier];
    try {
      const result = await work(new StageTransaction(this, actor));
      for (const happening of this.#happened) this.#told(happening);
      return result;
    } catch (error) {
      Object.assign(this.conversation, before);
      Object.assign(this.contact, contact);
      this.messages.length = messages;
      this.#events.length = events;
      this.#earlier = earlier;
      Object.assign(this, { stored, scheduled });
      throw error;
    } finally {
      this.#happened = [];
    }
  }

  record(name: EventName, subject: Subject, occasion: StageOccasion): void {
    if (subject.conversation) this.conversation.eventSequence += 1;
    if (subject.message && name === 'message_created') {
      this.messages.push(subject.message);
      this.#happened.push({ kind: 'message', message: subject.message });
    } else {
      if (subject.changed?.status?.previous === 'resolved') this.#earlier = this.messages.length;
      this.#happened.push({ kind: 'change', name, subject });
    }
    if (this.#isHeard(name, occasion)) this.#call(name, subject, occasion.actor);
  }

  // As the service selects the listeners of an event: see deliveries/lanes/enqueue.ts.
  #isHeard(name: EventName, { actor, bot, automationId }: StageOccasion): boolean {
    const automation = this.#automation;
    if (!automation) return bot?.silence === null;
    if (automationId !== null) return automation.id === automationId;
    return automation.events.includes(name) && !(actor.kind === 'automation' && actor.id === automation.id);
  }

  /** The customer opens the chat widget. Visits are not recorded: one may come before the first event, whose number it has then. */
  visit(): void {
    const { contact, conversation, messages, customer: actor } = this;
    const { account, bot } = conversation;
    const listener = this.#automation ?? (this.silence === null ? bot : null);
    if (!listener?.events.includes('webwidget_triggered')) return;
    const session = { contact, inbox: conversation.inbox, account, conversation, begun: messages.length === 0 };
    this.#call('webwidget_triggered', { session }, actor);
  }

  #call(name: EventName, subject: Subject, actor: Actor): void {
    const isOfConversation = Boolean(subject.conversation ?? subject.session);
    const sequence = isOfConversation ? Math.max(1, this.conversation.eventSequence) : null;
    const { depth } = actor;
    const about = { name, sequence, links: noFileLinks, cause: { actor: actorTold(actor, name), depth } };
    const toAccount = this.#automation ? bodyOf({ ...about, audience: 'account' }, subject) : null;
    this.#lastEvent += 1;
    this.#events.push({
      id: this.#lastEvent,
      name,
      conversationId: isOfConversation ? this.conversation.id : null,
      depth,
      body: toAccount ?? bodyOf({ ...about, audience: 'bot' }, subject) ?? '',
    });
  }

  nextMessageId(): number {
    this.#lastMessage += 1;
    return this.#lastMessage;
  }
}

function contactOf(
  given: NonNullable<SimulateOptions['contact']>,
  { account, now }: { account: Named; now: Date },
): Contact {
  return {
    id: contactId,
    accountId: account.id,
    name: given.name ?? 'Sam Sample',
    email: given.email === undefined ? 'sam@example.com' : given.email,
    phoneNumber: given.phone_number ?? null,
    identifier: given.identifier ?? null,
    blocked: false,
    avatarUrl: null,
    customAttributes: given.custom_attributes ?? {},
    visitorAttributes: given.visitor_attributes ?? {},
    additionalAttributes: {},
    lastActivityAt: null,
    deletionRequestedAt: null,
    deletionBeatAt: null,
    createdAt: now,
    updatedAt: now,
  };
}

function conversationOf(
  contact: Contact,
  { account, bot, now }: { account: Named; bot: ServingBot | null; now: Date },
): Conversation {
  const { id, name, email = null, phoneNumber = null, identifier = null } = contact;
  const conversation: Omit<Conversation, SilenceColumn> = {
    id: conversationId,
    account,
    inbox,
    contact: { id, name, email, phoneNumber, identifier, avatarUrl: null, blocked: false },
    status: 'open',
    priority: null,
    assignee: null,
    team: null,
    bot,
    labels: [],
    sourceId: null,
    snoozedUntil: null,
    waitingSince: null,
    slaPolicyId: null,
    handoffReason: null,
    closedBy: null,
    sessionBeganAt: null,
    firstResponseDueAt: null,
    resolutionDueAt: null,
    unreadCount: 0,
    botChanges: 0,
    botChangedAt: null,
    eventSequence: 0,
    additionalAttributes: {},
    customAttributes: {},
    createdAt: now,
    updatedAt: now,
    lastActivityAt: now,
  };
  return conversation as Conversation;
}
