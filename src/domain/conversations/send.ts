import type { Attachment } from '../../records/messages/attachment.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import type { ContentType, Message, MessageDraft, Sender } from '../../records/messages/message.ts';
import { forbidden, invalid } from '../../errors.ts';
import { system, type Transaction } from '../../events/transaction.ts';
import { holdFiles } from '../attachments/rows.ts';
import { lockConversation } from './access.ts';
import { decide, refuseSilentBot, refuseSpeech, quarantineNote } from './arbiter.ts';
import { autoAssign } from './assignment/auto-assignment.ts';
import { countBotChange, refuseLoop } from './bots/loops.ts';
import { findGreeting } from './messages/greetings.ts';
import { meetFirstResponse } from './deadlines/first-response.ts';
import { notifyAssignee, notifyMentioned } from './notifications.ts';
import { undergo } from './status.ts';

export interface NewMessage {
  type: Message['type'];
  content: string;
  private?: boolean;
  contentType?: ContentType;
  contentAttributes?: Record<string, unknown>;
  sourceId?: string | null;
  /** Files that are stored, and belong to no message yet. */
  attachments?: readonly Attachment[];
  /** Whether it is the first message of a new conversation, whose creation has already decided its assignee. */
  isFirst?: boolean;
}

/**
 * Adds a message to a locked conversation. Says changes of the conversation first, then message_created, then the inbox's
 * reactions (greeting, assignment).
 */
export async function sendInto(tx: Transaction, conversation: Conversation, input: NewMessage): Promise<Message> {
  if (input.private && input.type === 'incoming') {
    throw invalid('/private', 'outgoing', 'A private note must have the message_type outgoing: customers write none');
  }
  const said = draftOf(input, conversation);
  if (said.attachments.length > 0) await holdFiles(tx, said.attachments);
  // Never before the latest message, even if the clock of the process that wrote it is ahead.
  const createdAt = tx.now > conversation.lastActivityAt ? tx.now : conversation.lastActivityAt;
  const before = conversation.status;
  const leftBy = awaitsQuarantined(conversation) ? conversation.bot : null;
  await applyToConversation(tx, conversation, input);
  Object.assign(conversation, { lastActivityAt: createdAt, updatedAt: createdAt });
  const draft: MessageDraft = { ...said, sender: senderOf(tx, conversation, input.type), createdAt };
  const message = await tx.say(conversation, draft, decide('message_created', conversation, tx.actor, draft));
  if (message.private) notifyMentioned(tx, conversation, message.content);
  if (message.type === 'incoming') {
    notifyAssignee(tx, conversation, 'assigned_conversation_new_message');
    if (leftBy) await tell(tx, conversation, { content: quarantineNote(leftBy.name), private: true });
    await greet(tx, conversation, { messageId: message.id, reopened: before === 'resolved' });
  }
  if (before !== 'open') await autoAssign(tx, conversation);
  return message;
}

// A channel has yet to send what is written to its customers.
function draftOf(input: NewMessage, { inbox }: Conversation): Omit<MessageDraft, 'sender' | 'createdAt'> {
  const isToSend = input.type === 'outgoing' && !input.private && inbox.channelId !== null;
  return {
    type: input.type,
    content: input.content,
    contentType: input.contentType ?? 'text',
    contentAttributes: input.contentAttributes ?? {},
    private: input.private ?? false,
    status: isToSend ? 'pending' : 'sent',
    sourceId: input.sourceId ?? null,
    attachments: input.attachments ?? [],
  };
}

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

async function applyToConversation(tx: Transaction, conversation: Conversation, input: NewMessage): Promise<void> {
  if (input.private) {
    countBotChange(tx, conversation);
    return undergo(tx, conversation, { kind: 'noted' });
  }
  if (input.type === 'incoming') return hearCustomer(tx, conversation);
  if (tx.actor.kind === 'automation') return allowAutomation(tx, conversation);
  if (tx.actor.kind !== 'system') meetFirstResponse(conversation, tx.now);
  if (tx.actor.kind === 'agent_bot') return allowBot(tx, conversation);
  if (tx.actor.kind === 'user') hearAgent(tx, conversation, input.isFirst ?? false);
}

// Changes of the conversation by the customer's message; their events precede message_created.
function hearCustomer(tx: Transaction, conversation: Conversation): void {
  conversation.unreadCount += 1;
  conversation.waitingSince ??= tx.now;
  // A bot in quarantine loses the conversation, so that it does not interrupt agents after its release.
  if (awaitsQuarantined(conversation))
    undergo(tx.as(system), conversation, { kind: 'bot_ended', reason: 'bot_failed' });
  undergo(tx, conversation, { kind: 'customer_spoke' });
}

function hearAgent(tx: Transaction, conversation: Conversation, isFirst: boolean): void {
  conversation.unreadCount = 0;
  conversation.waitingSince = null;
  if (!isFirst) undergo(tx, conversation, { kind: 'spoke' });
}

// The check under the row lock: after a person took over, no message of a bot commits.
async function allowBot(tx: Transaction, conversation: Conversation): Promise<void> {
  refuseSilentBot(tx.actor, conversation);
  await refuseLoop(tx, conversation);
  conversation.waitingSince = null;
  undergo(tx, conversation, { kind: 'spoke' });
}

// Its message is no answer: the customer still waits for one.
async function allowAutomation(tx: Transaction, conversation: Conversation): Promise<void> {
  refuseSpeech(tx.actor, conversation);
  await refuseLoop(tx, conversation);
  undergo(tx, conversation, { kind: 'spoke' });
}

// The actor of automatic messages is the system: they count neither as an agent's nor as a bot's.
async function greet(
  tx: Transaction,
  conversation: Conversation,
  occasion: { messageId: number; reopened: boolean },
): Promise<void> {
  if (!conversation.inbox.greets) return;
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
 * Sends a message: `incoming` in the contact's name, `outgoing` in the actor's, private for agents only. Says
 * message_created, before it conversation_status_changed when the message changes the status, and after it the inbox's
 * reactions: message_created for a greeting, conversation_updated for an assignment. Errors: 404, 403
 * (`bot_suppressed` for a silent bot, `loop_suspected`), 422.
 */
export async function send(
  tx: Transaction,
  conversationId: number,
  input: NewMessage,
): Promise<{ message: Message; conversation: Conversation }> {
  const conversation = await lockConversation(tx, conversationId);
  if (input.type === 'incoming' && (tx.actor.kind === 'agent_bot' || tx.actor.kind === 'automation')) {
    throw forbidden("A bot may not send incoming messages: those are the customer's");
  }
  const message = await sendInto(tx, conversation, input);
  return { message, conversation };
}
