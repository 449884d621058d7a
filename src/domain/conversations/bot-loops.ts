import type { Conversation } from '../../records/conversation.ts';
import { countBotMessagesSince, type Message } from '../../records/message.ts';
import { forbidden } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { verifying, type Presumed } from '../../records/presumed-conversation.ts';

const maxBotMessagesPerMinute = 10;
const maxBotStreak = 20;

/**
 * Locks a conversation in which a bot is going to speak; null when there is none. In the same round trip it reads how much
 * bots have spoken there.
 */
export async function holdForBot(tx: Transaction, id: number): Promise<Conversation | null> {
  const [conversation, count] = await Promise.all([tx.conversation(id), countLastMinute(tx, id)]);
  if (conversation) tx.botMessages.set(id, count);
  return conversation;
}

/** Like holdForBot, of a conversation that was read before; `speaking` is how often the bot is going to speak. */
export function presumeForBot(tx: Transaction, presumed: Presumed, speaking: number): Conversation {
  const bound = { toCome: speaking, since: minuteBefore(tx.now), most: maxBotMessagesPerMinute };
  const conversation = tx.presumeConversation(presumed, verifying(tx.account.id, presumed, bound));
  tx.botMessages.set(conversation.id, 0);
  return conversation;
}

/** Counts a public message of a bot, unless the bot is in a loop with something else. Errors: 403 `loop_suspected`. */
export async function refuseLoop(tx: Transaction, conversation: Conversation): Promise<void> {
  const { id } = conversation;
  const unwritten = () => tx.unwritten.filter((one) => one.conversationId === id && isOfBot(one)).length;
  const lastMinute = tx.botMessages.get(id) ?? unwritten() + (await countLastMinute(tx, id));
  if (conversation.botStreak >= maxBotStreak || lastMinute >= maxBotMessagesPerMinute) {
    throw forbidden(
      'The bot wrote too many messages without a word from the customer; people were asked to look',
      'loop_suspected',
    );
  }
  tx.botMessages.set(id, lastMinute + 1);
}

function countLastMinute(tx: Transaction, id: number): Promise<number> {
  return countBotMessagesSince(tx.connection, tx.account.id, id, minuteBefore(tx.now));
}

function minuteBefore(moment: Date): Date {
  return new Date(moment.getTime() - 60_000);
}

function isOfBot(message: Message): boolean {
  return message.sender.kind === 'agent_bot' && !message.private;
}
