import type { Database } from '../postgres/database.ts';
import { suspendBot } from '../domain/bots/suspension.ts';
import { markFailed } from '../domain/channels/outgoing.ts';
import { system, transact, type Transaction } from '../events/transaction.ts';
import type { Verdict } from '../deliveries/core/verdict.ts';
import { findMessage } from '../records/messages/message.ts';
import type { Claimed } from '../deliveries/lanes/claim.ts';
import { finishedWith, settleDelivery, unlessStale } from '../deliveries/lanes/finish.ts';

export interface GivingOptions {
  database: Database;
  holdAttempts: number;
}

interface Ending {
  claimed: Claimed;
  verdict: Verdict;
  /** The private note that tells people why they get the conversation. */
  note: string;
  /** Consequences for the bot, in the same transaction. */
  judge?: (tx: Transaction) => Promise<void>;
}

/**
 * Settles the delivery of a bot that cannot answer and gives its conversation to people, in one transaction. False when
 * another process has taken over the delivery, and with it the decision.
 */
export function giveToPeople(
  { database, holdAttempts }: GivingOptions,
  { claimed, verdict, note, judge }: Ending,
): Promise<boolean> {
  const { account, endpoint, event } = claimed;
  return unlessStale(() =>
    transact(database, { account, actor: system }, async (tx) => {
      const suspension = { botId: endpoint.id, silence: 'bot_failed', note } as const;
      if (event.conversationId !== null) await suspendBot(tx, event.conversationId, suspension);
      await judge?.(tx);
      settleDelivery(tx, finishedWith(claimed, verdict), holdAttempts);
    }),
  );
}

/** Settles the delivery of a message that a channel cannot send, and marks the message as failed, in one transaction. */
export function failMessage(
  { database, holdAttempts }: GivingOptions,
  { claimed, verdict, note, judge }: Ending,
): Promise<boolean> {
  const { account, event, body } = claimed;
  return unlessStale(() =>
    transact(database, { account, actor: system }, async (tx) => {
      const conversation = event.conversationId === null ? null : await tx.conversation(event.conversationId);
      const messageId = Number((JSON.parse(body) as { id?: string | number }).id);
      const message = conversation && (await findMessage(tx.sql, account.id, conversation.id, messageId));
      if (message) await markFailed(tx, { conversation, message }, note);
      await judge?.(tx);
      settleDelivery(tx, finishedWith(claimed, verdict), holdAttempts);
    }),
  );
}
