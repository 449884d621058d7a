import type { BotSilence } from '../../records/conversation.ts';
import { ApiError } from '../../errors.ts';
import { system, type Actor, type Transaction, type Transact } from '../../events/transaction.ts';
import { silenceOf } from '../conversations/arbiter.ts';
import { handOff } from '../conversations/lifecycle.ts';

/**
 * Gives a conversation to people because its bot cannot go on there, with a note that tells them. Nothing happens when
 * the bot is silent there already, or serves it no more.
 */
export async function suspendBot(
  tx: Transaction,
  conversationId: number,
  { botId, silence, note }: { botId: number; silence: BotSilence; note: string },
): Promise<void> {
  const conversation = await tx.conversation(conversationId);
  if (!conversation || conversation.bot?.id !== botId || silenceOf(conversation) !== null) return;
  // A bot that fails leaves nobody waiting in a conversation that is over; one that loops does so anywhere.
  if (conversation.status === 'resolved' && silence === 'bot_failed') return;
  await handOff(tx, conversationId, { silence, note });
}

/**
 * Suspends a bot whose message was refused because it seems to talk in a loop. `transact` runs a transaction of its own:
 * the one that was refused is undone, and everything in it.
 */
export async function stopLoop(
  transact: Transact,
  { error, actor: { id: botId, name }, conversationId }: { error: unknown; actor: Actor; conversationId: number },
): Promise<void> {
  if (!(error instanceof ApiError) || error.code !== 'loop_suspected' || botId === null) return;
  const note = `The bot ${name} seems to talk in a loop and was stopped here. Please take over.`;
  await transact((tx) => suspendBot(tx.as(system), conversationId, { botId, silence: 'loop_suspected', note }));
}
