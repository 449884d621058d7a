import type { Database } from '../postgres/database.ts';
import { suspendBot } from '../domain/bots/suspension.ts';
import { system, transact, type Transaction } from '../events/transaction.ts';
import type { Verdict } from '../deliveries/core/verdict.ts';
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
