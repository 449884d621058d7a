import type { BotSilence } from '../../records/conversations/conversation.ts';
import { system, type Actor, type Transaction, type Transact } from '../../events/transaction.ts';
import { silenceOf } from '../conversations/arbiter.ts';
import { LoopSuspected } from '../conversations/bots/loops.ts';
import { handOff } from '../conversations/lifecycle.ts';

/**
 * Hands a conversation to people because its bot cannot continue there, with a note that says why. Does nothing when the
 * bot is silent already or no longer serves the conversation.
 */
export async function suspendBot(
  tx: Transaction,
  conversationId: number,
  { botId, silence, note }: { botId: number; silence: BotSilence; note: string },
): Promise<void> {
  const conversation = await tx.conversation(conversationId);
  if (!conversation || conversation.bot?.id !== botId || silenceOf(conversation) !== null) return;
  // Nobody waits for a bot that failed where all is resolved, or a person put it off; a loop is stopped in any status.
  const isPutOff = conversation.status === 'snoozed' && conversation.closedBy === 'user';
  if ((conversation.status === 'resolved' || isPutOff) && silence === 'bot_failed') return;
  await handOff(tx, conversationId, { silence, note, summary: {} });
}

/**
 * Suspends a bot whose request was refused as a suspected loop. `transact` must run a new transaction: the one in which
 * the request was refused is rolled back.
 */
export async function stopLoop(
  transact: Transact,
  { error, actor: { id: botId, name } }: { error: unknown; actor: Actor },
): Promise<void> {
  if (!(error instanceof LoopSuspected) || botId === null) return;
  const { conversationId } = error;
  const note = `The bot ${name} seems to be in a loop and was stopped here. Please take over.`;
  await transact((tx) => suspendBot(tx.as(system), conversationId, { botId, silence: 'loop_suspected', note }));
}
