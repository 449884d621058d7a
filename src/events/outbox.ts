import type { NewEvent } from '../deliveries/lanes/enqueue.ts';
import type { FileLinks } from '../lib/file-links.ts';
import { bodyOf, catalog, isFleeting, type Cause, type Entry, type EventName, type Subject } from './catalog.ts';
import { factsOf } from './facts.ts';
import { isFormatted } from './formats/chatwoot.ts';
import { keep, type KeptSubject } from './formats/told.ts';

/** Which bot serves the conversation and, if it does not receive the event, why. */
export interface BotDecision {
  botId: number;
  chosenBy: 'conversation' | 'inbox' | 'hook';
  silence: string | null;
}

/** An event of the transaction, with the bodies that its audiences will get, built and validated. */
export interface RecordedEvent extends NewEvent {
  name: EventName;
  bot: BotDecision | null;
  /** Its subject, for a body in another format, until that is made; null where none is. */
  kept: KeptSubject | null;
}

/** The circumstances of an event: its causation depth, or the bot whose request it is (see NewEvent), the arbiter's decision on the bot, and what makes links to files. */
interface Occasion {
  depth: number;
  /** On whose behalf it happened; null for the service. */
  actor?: Cause['actor'];
  requestedBy?: number | null;
  /** See NewEvent. */
  automationId?: number | null;
  causedBy?: number | null;
  bot: BotDecision | null;
  links: FileLinks;
  /** Whether the account may want its body in another format. */
  isFormatWanted?: boolean;
}

const nobodys = { actor: null, requestedBy: null, automationId: null, causedBy: null, isFormatWanted: false };

/** An event with its subject's present state; increments the conversation's `eventSequence`, unless it is fleeting. */
export function eventOf(name: EventName, subject: Subject, occasion: Occasion): RecordedEvent {
  const { depth, actor, requestedBy, automationId, causedBy, bot, links, isFormatWanted } = { ...nobodys, ...occasion };
  const channelId = channelOf(name, subject);
  const isForBots = bot !== null || automationId !== null || subject.request !== undefined;
  const { conversation, session } = subject;
  const sequence = conversation && !isFleeting(name) ? ++conversation.eventSequence : null;
  return {
    name,
    ...placeOf(name, subject),
    inboxId: (conversation ?? session)?.inbox.id ?? null,
    sequence,
    depth,
    requestedBy,
    automationId,
    causedBy,
    channelId,
    bot,
    accountPayload: bodyOf({ name, audience: 'account', sequence, links, cause: { actor, depth } }, subject),
    botPayload: isForBots ? bodyOf({ name, audience: 'bot', sequence, links }, subject) : null,
    facts: factsOf(subject),
    isFormatted: isFormatted(name),
    chatwootPayload: null,
    kept: isFormatWanted && isFormatted(name) ? keep(subject) : null,
  };
}

// A channel sends what is written to customers, also when somebody has it sent again, and receives the requests of its hooks.
function channelOf(name: EventName, { conversation, message, request }: Subject): number | null {
  if (request) return request.channelId;
  const isToSend = (name === 'message_created' || name === 'message_updated') && message?.status === 'pending';
  return isToSend ? (conversation?.inbox.channelId ?? null) : null;
}

// A deletion event has no foreign key to the deleted row: the cascade would delete the event too.
function placeOf(name: EventName, { conversation, contact, webhook, request }: Subject) {
  if (request) return { conversationId: null, contactId: null, lane: { kind: 'hook' as const, id: request.lane } };
  if (webhook) return { conversationId: null, contactId: null, lane: { kind: 'webhook' as const, id: webhook.id } };
  const [kind, about] = conversation ? (['conversation', conversation] as const) : (['contact', contact] as const);
  if (!about) throw new Error(`${name} is about neither a conversation nor a contact`);
  const { ends }: Entry = catalog[name];
  const refersTo = ends === kind ? null : kind;
  return {
    conversationId: refersTo === 'conversation' ? about.id : null,
    contactId: refersTo === 'contact' ? about.id : null,
    lane: { kind, id: about.id },
  };
}
