import { enqueue, type NewEvent } from '../deliveries/queue/enqueue.ts';
import type { TouchedEndpoint } from '../postgres/database.ts';
import { assertShape } from '../schemas.ts';
import { buildPayload, endOf, payloadSchema, type Audience, type EventName, type Subject } from './catalog.ts';
import type { Transaction } from './transaction.ts';

/** Which bot serves the conversation and, when it does not get the event, why not. */
export interface BotDecision {
  botId: number;
  chosenBy: 'conversation' | 'inbox';
  silence: string | null;
}

/** An event that happened in a transaction: what subscribers will read, fixed and validated. */
export interface RecordedEvent extends NewEvent {
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

/**
 * Says that an event happened. It commits with the transaction, one delivery for each subscriber beside it. The
 * conversation's `eventSequence` moves on; the caller saves the conversation afterwards.
 */
export function record(tx: Transaction, name: EventName, subject: Subject, bot: BotDecision | null = null): void {
  const { conversation, session } = subject;
  const sequence = conversation ? ++conversation.eventSequence : null;
  tx.recorded.push({
    name,
    ...placeOf(name, subject),
    inboxId: (conversation ?? session)?.inbox.id ?? null,
    sequence,
    depth: tx.actor.depth,
    accountPayload: snapshot(name, 'account', subject, sequence),
    botPayload: bot ? snapshot(name, 'bot', subject, sequence) : null,
    bot,
  });
}

/** Writes what the transaction recorded; part of its commit. Answers whom something is to be delivered to. */
export async function flushOutbox(tx: Transaction): Promise<TouchedEndpoint[]> {
  return tx.recorded.length === 0 ? [] : enqueue(tx.em, tx.account.id, tx.recorded);
}
