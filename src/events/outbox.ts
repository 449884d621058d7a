import { enqueue, type NewEvent } from '../deliveries/queue/enqueue.ts';
import type { Part } from '../postgres/write-set.ts';
import { assertShape } from '../schemas.ts';
import { catalog, payloadSchema, type Audience, type Entry, type EventName, type Subject } from './catalog.ts';

/** Which bot serves the conversation and, if it does not receive the event, why. */
export interface BotDecision {
  botId: number;
  chosenBy: 'conversation' | 'inbox';
  silence: string | null;
}

/** An event of the transaction, with the bodies that its audiences will get, built and validated. */
interface RecordedEvent extends NewEvent {
  name: EventName;
  bot: BotDecision | null;
}

/** The circumstances of an event: its causation depth, and the arbiter's decision on the bot. */
interface Occasion {
  depth: number;
  bot: BotDecision | null;
}

/** The events of a transaction, in order; its commit writes them, with a delivery for each subscriber. */
export class Outbox {
  #events: RecordedEvent[] = [];

  /** Records an event with its subject's present state, and increments the conversation's `eventSequence`. */
  record(name: EventName, subject: Subject, { depth, bot }: Occasion): void {
    const { conversation, session } = subject;
    const entry: Entry = catalog[name];
    const sequence = conversation ? ++conversation.eventSequence : null;
    this.#events.push({
      name,
      ...placeOf(name, entry, subject),
      inboxId: (conversation ?? session)?.inbox.id ?? null,
      sequence,
      depth,
      accountPayload: snapshot({ name, audience: 'account', sequence }, entry.account?.(subject)),
      botPayload: bot && snapshot({ name, audience: 'bot', sequence }, entry.bot?.(subject)),
      bot,
    });
  }

  /** Marks the present state; the returned function forgets the events since, for a rolled-back savepoint. */
  mark(): () => void {
    const events = this.#events;
    const { length } = events;
    return () => {
      // The array of the mark: a flush since then has emptied the outbox, and is rolled back too.
      events.length = length;
      this.#events = events;
    };
  }

  /** The recorded events, to be written: their number, and the part of the statement. */
  take(): { events: number; parts: Part[] } {
    const events = this.#events;
    this.#events = [];
    return { events: events.length, parts: events.length > 0 ? [enqueue(events)] : [] };
  }
}

interface Told {
  name: EventName;
  audience: Audience;
  sequence: number | null;
}

function snapshot({ name, audience, sequence }: Told, body: Record<string, unknown> | undefined): string | null {
  if (!body) return null;
  const payload = sequence === null ? { event: name, ...body } : { event: name, ...body, sequence };
  assertShape(payloadSchema(name, audience), payload);
  return JSON.stringify(payload);
}

// A deletion event has no foreign key to the deleted row: the cascade would delete the event too.
function placeOf(name: EventName, { ends }: Entry, { conversation, contact }: Subject) {
  const [kind, about] = conversation ? (['conversation', conversation] as const) : (['contact', contact] as const);
  if (!about) throw new Error(`${name} is about neither a conversation nor a contact`);
  const refersTo = ends === kind ? null : kind;
  return {
    conversationId: refersTo === 'conversation' ? about.id : null,
    contactId: refersTo === 'contact' ? about.id : null,
    lane: { kind, id: about.id },
  };
}
