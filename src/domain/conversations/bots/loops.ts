import type { Conversation } from '../../../records/conversations/conversation.ts';
import { countBotMessagesSince, type Message } from '../../../records/messages/message.ts';
import { ApiError } from '../../../errors.ts';
import type { Transaction } from '../../../events/transaction.ts';
import { verifying, type Presumed } from '../../../records/conversations/presumed.ts';

const maxBotMessagesPerMinute = 10;
const maxBotStreak = 20;
// A reply comes with two or three of them, ten replies a minute are allowed.
const maxChanges = 30;
const pauseMs = 60_000;

/** 403: a bot reacts to itself, or to another bot, in a conversation. Its transaction is rolled back; see stopLoop. */
export class LoopSuspected extends ApiError {
  readonly conversationId: number;

  constructor(conversationId: number, tooMuch: string) {
    const message = `The bot ${tooMuch} without a word from the customer; the agents were asked to look`;
    super(403, 'loop_suspected', message);
    this.conversationId = conversationId;
  }
}

/**
 * Locks a conversation in which a bot is going to speak; null when there is none. Reads the number of recent bot messages there
 * in the same round trip.
 */
export async function holdForBot(tx: Transaction, id: number): Promise<Conversation | null> {
  const [conversation, count] = await Promise.all([tx.conversation(id), countLastMinute(tx, id)]);
  if (conversation) tx.botMessages.set(id, count);
  return conversation;
}

/** Like holdForBot, for a conversation that was read before; `speaking` is the number of messages that the bot will send. */
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
    throw new LoopSuspected(id, 'wrote too many messages');
  }
  tx.botMessages.set(id, lastMinute + 1);
}

// The transaction's time is an object of its own: a run that changes several things counts once.
const countedAt = new WeakMap<Conversation, Date>();

/**
 * Counts a private note or a change of a bot in a locked conversation, together with all other changes of its transaction
 * there. A message of the customer, a pause of a minute, and returning the conversation to the bot reset the count. Errors: 403
 * `loop_suspected`.
 */
export function countBotChange(tx: Transaction, conversation: Conversation): void {
  if (tx.actor.kind !== 'agent_bot' || countedAt.get(conversation) === tx.now) return;
  const { botChanges, botChangedAt } = conversation;
  const inRow = botChangedAt && tx.now.getTime() - botChangedAt.getTime() < pauseMs ? botChanges : 0;
  if (inRow >= maxChanges) throw new LoopSuspected(conversation.id, 'changed too much');
  countedAt.set(conversation, tx.now);
  Object.assign(conversation, { botChanges: inRow + 1, botChangedAt: tx.now });
}

/** Resets the count of countBotChange. */
export function forgetBotChanges(conversation: Conversation): void {
  conversation.botChanges = 0;
}

function countLastMinute(tx: Transaction, id: number): Promise<number> {
  return countBotMessagesSince(tx.sql, tx.account.id, id, minuteBefore(tx.now));
}

function minuteBefore(moment: Date): Date {
  return new Date(moment.getTime() - 60_000);
}

function isOfBot(message: Message): boolean {
  return (message.sender.kind === 'agent_bot' || message.sender.kind === 'automation') && !message.private;
}
