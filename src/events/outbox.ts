import { enqueue, type NewEvent } from '../deliveries/queue/enqueue.ts';
import type { TouchedEndpoint } from '../postgres/database.ts';
import type { Executor } from '../postgres/sql.ts';
import { assertShape } from '../schemas.ts';
import { buildPayload, endOf, payloadSchema, type Audience, type EventName, type Subject } from './catalog.ts';

/** Which bot serves the conversation and, when it does not get the event, why not. */
export interface BotDecision {
  botId: number;
  chosenBy: 'conversation' | 'inbox';
  silence: string | null;
}

/** An event that happened in a transaction: what subscribers will read, fixed and validated. */
interface RecordedEvent extends NewEvent {
  name: EventName;
  bot: BotDecision | null;
}

function snapshot(name: EventName, audience: Audience, subject: Subject, sequence: number | null): string | null {
  const payload = buildPayload(name, audience, subject);
  if (!payload) return null;
  if (sequence !== null) payload.sequence = sequence;
  assertShape(payloadSchema(name, audience), payload);
  return JSON.stringify(payload);
}

// A deletion event has no foreign key to the deleted row: the cascade would delete the event too.
function placeOf(name: EventName, { conversation, contact }: Subject) {
  const [kind, about] = conversation ? (['conversation', conversation] as const) : (['contact', contact] as const);
  if (!about) throw new Error(`${name} is about neither a conversation nor a contact`);
  const refersTo = endOf(name) === kind ? null : kind;
  return {
    conversationId: refersTo === 'conversation' ? about.id : null,
    contactId: refersTo === 'contact' ? about.id : null,
    lane: { kind, id: about.id },
  };
}

/** Why an event happened: how far from a customer's word, and what the arbiter decided of the bot. */
interface Occasion {
  depth: number;
  bot: BotDecision | null;
}

/** The events that a transaction says, in order; they commit with it, one delivery for each subscriber beside each. */
export class Outbox {
  #events: RecordedEvent[] = [];

  /** Says that an event happened, as its subject stands now. The conversation's `eventSequence` moves on. */
  record(name: EventName, subject: Subject, { depth, bot }: Occasion): void {
    const { conversation, session } = subject;
    const sequence = conversation ? ++conversation.eventSequence : null;
    this.#events.push({
      name,
      ...placeOf(name, subject),
      inboxId: (conversation ?? session)?.inbox.id ?? null,
      sequence,
      depth,
      accountPayload: snapshot(name, 'account', subject, sequence),
      botPayload: bot ? snapshot(name, 'bot', subject, sequence) : null,
      bot,
    });
  }

  /** Notes what was said so far; the answer forgets what was said since, for a savepoint that is undone. */
  mark(): () => void {
    const { length } = this.#events;
    return () => {
      this.#events.length = length;
    };
  }

  /** Writes what was said; answers how many events that were, and whom something is to be delivered to. */
  async flush(executor: Executor, accountId: number): Promise<{ events: number; touched: TouchedEndpoint[] }> {
    const events = this.#events;
    this.#events = [];
    return { events: events.length, touched: events.length > 0 ? await enqueue(executor, accountId, events) : [] };
  }
}
