import type { Database } from '../database.ts';
import { findConversation, type BotSilence, type Named } from '../entities/conversation.ts';
import { ApiError } from '../errors.ts';
import { system, transact, type Actor, type Transaction } from '../events/transaction.ts';
import { silenceOf } from './arbiter.ts';
import { handOff } from './conversations.ts';

/**
 * Gives a conversation to people because its bot cannot go on there, with a note that tells them. Nothing happens when
 * the bot is silent there already, or serves it no more.
 */
export async function suspendBot(
  tx: Transaction,
  conversationId: number,
  { botId, silence, note }: { botId: number; silence: BotSilence; note: string },
): Promise<void> {
  const conversation = await findConversation(tx.em, tx.account.id, conversationId, { lock: true });
  if (!conversation || conversation.bot?.id !== botId || silenceOf(conversation) !== null) return;
  // A bot that fails leaves nobody waiting in a conversation that is over; one that loops does so anywhere.
  if (conversation.status === 'resolved' && silence === 'bot_failed') return;
  await handOff(tx, conversationId, { silence, note });
}

/**
 * Rethrows what kept an actor's message from being sent. A bot that was refused because it seems to talk in a loop is
 * suspended first: in a transaction of its own, since the refused one left nothing behind.
 */
export async function refuseMessage(
  database: Database,
  { account, actor, conversationId }: { account: Named; actor: Actor; conversationId: number },
  error: unknown,
): Promise<never> {
  const { id: botId, name } = actor;
  if (error instanceof ApiError && error.code === 'loop_suspected' && botId !== null) {
    const note = `The bot ${name} seems to talk in a loop and was stopped here. Please take over.`;
    await transact(database, { account, actor: system }, (tx) =>
      suspendBot(tx, conversationId, { botId, silence: 'loop_suspected', note }),
    );
  }
  throw error;
}
