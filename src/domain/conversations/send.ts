import type { Conversation } from '../../records/conversation.ts';
import {
  countBotMessagesSince,
  insertMessage,
  type ContentType,
  type Message,
  type Sender,
} from '../../records/message.ts';
import { forbidden, invalid } from '../../errors.ts';
import { system, type Transaction } from '../../events/transaction.ts';
import { lockConversation } from './access.ts';
import { decide, refuseSilentBot, quarantineNote } from './arbiter.ts';
import { autoAssign } from './auto-assignment.ts';
import { findGreeting } from './greetings.ts';
import { settleFirstResponse } from './promises.ts';
import { undergo } from './status.ts';

export interface NewMessage {
  type: Message['type'];
  content: string;
  private?: boolean;
  contentType?: ContentType;
  contentAttributes?: Record<string, unknown>;
  sourceId?: string | null;
  /** It came with the conversation: whose that is was settled then. */
  isFirst?: boolean;
}

// Two bounds on a bot that has fallen into a loop with something else.
const maxBotMessagesPerMinute = 10;
const maxBotStreak = 20;

function senderOf(tx: Transaction, conversation: Conversation, type: Message['type']): Sender {
  const { contact } = conversation;
  if (type === 'incoming') {
    return { kind: 'contact', id: contact.id, name: contact.name, email: contact.email, avatarUrl: contact.avatarUrl };
  }
  const { kind, id, name, email, avatarUrl } = tx.actor;
  return { kind, id, name, email, avatarUrl };
}

function awaitsQuarantined({ status, bot, contact }: Conversation): boolean {
  return status === 'pending' && bot?.unfit === 'bot_quarantined' && !contact.blocked;
}

// What the customer's word does to the conversation before anybody is told of it.
function hearCustomer(tx: Transaction, conversation: Conversation): void {
  conversation.unreadCount += 1;
  conversation.waitingSince ??= tx.now;
  // Also when it is called again, the bot must not talk into what people have meanwhile.
  if (awaitsQuarantined(conversation))
    undergo(tx.as(system), conversation, { kind: 'bot_ended', reason: 'bot_failed' });
  undergo(tx, conversation, { kind: 'customer_spoke' });
}

function hearAgent(tx: Transaction, conversation: Conversation, isFirst: boolean): void {
  conversation.unreadCount = 0;
  conversation.waitingSince = null;
  if (!isFirst) undergo(tx, conversation, { kind: 'spoke' });
}

// The check under the row lock that makes the promise: after a person took over, no bot message commits.
async function allowBot(tx: Transaction, conversation: Conversation): Promise<void> {
  refuseSilentBot(tx.actor, conversation);
  const minuteAgo = new Date(tx.now.getTime() - 60_000);
  const lastMinute = await countBotMessagesSince(tx.em, tx.account.id, conversation.id, minuteAgo);
  if (conversation.botStreak >= maxBotStreak || lastMinute >= maxBotMessagesPerMinute) {
    throw forbidden(
      'The bot wrote too many messages without a word from the customer; people were asked to look',
      'loop_suspected',
    );
  }
  conversation.waitingSince = null;
  undergo(tx, conversation, { kind: 'spoke' });
}

async function applyToConversation(tx: Transaction, conversation: Conversation, input: NewMessage): Promise<void> {
  if (input.private) return undergo(tx, conversation, { kind: 'noted' });
  if (input.type === 'incoming') return hearCustomer(tx, conversation);
  if (tx.actor.kind !== 'system') settleFirstResponse(conversation, tx.now);
  if (tx.actor.kind === 'agent_bot') return allowBot(tx, conversation);
  if (tx.actor.kind === 'user') hearAgent(tx, conversation, input.isFirst ?? false);
}

/**
 * Puts a message into a locked conversation and says message_created; what it does to the conversation is said before
 * it, the inbox's greeting and an assignee named by itself after it.
 */
export async function sendInto(tx: Transaction, conversation: Conversation, input: NewMessage): Promise<Message> {
  if (input.private && input.type === 'incoming') {
    throw invalid('/private', 'outgoing', 'A private note must have the message_type outgoing: customers write none');
  }
  // Messages of a conversation never stand before older ones, whichever process's clock wrote them.
  const createdAt = tx.now > conversation.lastActivityAt ? tx.now : conversation.lastActivityAt;
  const before = conversation.status;
  const leftBy = awaitsQuarantined(conversation) ? conversation.bot : null;
  await applyToConversation(tx, conversation, input);
  Object.assign(conversation, { lastActivityAt: createdAt, updatedAt: createdAt });
  const draft: Omit<Message, 'id'> = {
    conversationId: conversation.id,
    type: input.type,
    content: input.content,
    contentType: input.contentType ?? 'text',
    contentAttributes: input.contentAttributes ?? {},
    private: input.private ?? false,
    status: 'sent',
    sourceId: input.sourceId ?? null,
    sender: senderOf(tx, conversation, input.type),
    createdAt,
  };
  const message: Message = { ...draft, id: await insertMessage(tx.em, tx.account.id, draft) };
  tx.record('message_created', { conversation, message }, decide('message_created', conversation, tx.actor, message));
  if (message.type === 'incoming') {
    if (leftBy) await tell(tx, conversation, { content: quarantineNote(leftBy.name), private: true });
    await greet(tx, conversation, { messageId: message.id, reopened: before === 'resolved' });
  }
  if (before !== 'open') await autoAssign(tx, conversation);
  return message;
}

// The inbox's own word: nobody's, so that it counts neither as a person's nor as the bot's.
async function greet(
  tx: Transaction,
  conversation: Conversation,
  occasion: { messageId: number; reopened: boolean },
): Promise<void> {
  const content = await findGreeting(tx, conversation, occasion);
  if (content !== null) await tell(tx, conversation, { content });
}

function tell(
  tx: Transaction,
  conversation: Conversation,
  message: Pick<NewMessage, 'content' | 'private'>,
): Promise<Message> {
  return sendInto(tx.as({ ...system, depth: tx.actor.depth }), conversation, { ...message, type: 'outgoing' });
}

/**
 * Sends a message as the actor: `incoming` in the contact's name, `outgoing` in the actor's own, private for agents
 * only. Says message_created and, when it moves the conversation, conversation_status_changed before; then what the
 * inbox does by itself: message_created for its greeting, conversation_updated for an assignee. Errors: 404, 403
 * (`bot_suppressed` when a bot speaks where it must be silent, `loop_suspected`), 422.
 */
export async function send(
  tx: Transaction,
  conversationId: number,
  input: NewMessage,
): Promise<{ message: Message; conversation: Conversation }> {
  const conversation = await lockConversation(tx, conversationId);
  if (input.type === 'incoming' && tx.actor.kind === 'agent_bot') {
    throw forbidden("A bot may not send incoming messages: those are the customer's");
  }
  const message = await sendInto(tx, conversation, input);
  return { message, conversation };
}
