import { ApiError, invalid, notFound } from '../../errors.ts';
import type { ChangedAttributes } from '../../events/catalog.ts';
import type { Transaction } from '../../events/transaction.ts';
import { storableText } from '../../lib/text/storable.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import { findMessage, type Message } from '../../records/messages/message.ts';
import { lockConversation } from '../conversations/access.ts';
import { saveEdit } from '../conversations/messages/edits.ts';
import { conversationOf, findByExternalId, keepExternalId } from './external-ids.ts';

type Status = Message['status'];
type Reached = { conversation: Conversation; message: Message };

/** A receipt of the other system for a message that was sent. */
export interface Receipt {
  externalId: string;
  /** The id of the message here, where the other system repeats it; else null. */
  messageId: number | null;
  status: Exclude<Status, 'pending'>;
  reason: string | null;
}

const maxReasonChars = 1_000;
const ranks = { pending: 0, sent: 1, delivered: 2, read: 3 } as const;

/**
 * Marks a message as sent, known by this id in the other system, also where a receipt came first. Says message_updated; nothing for
 * one that is neither pending nor was deleted while it was sent, and has the id already.
 */
export async function markSent(tx: Transaction, reached: Reached, externalId: string): Promise<void> {
  const { conversation, message } = reached;
  const wasDeleted = message.status === 'failed' && message.contentAttributes['deleted'] === true;
  await keepExternalId(tx, { inboxId: conversation.inbox.id, externalId, messageId: message.id });
  if (message.status !== 'pending' && !wasDeleted) return keepSourceId(tx, reached, externalId);
  await change(tx, reached, { status: 'sent', sourceId: externalId, externalError: null });
}

// A receipt may name the message by another id than the one by which customers answer it.
async function keepSourceId(tx: Transaction, reached: Reached, externalId: string): Promise<void> {
  const { sourceId: previous } = reached.message;
  if (previous === externalId) return;
  reached.message.sourceId = externalId;
  await saveEdit(tx, reached, { source_id: { previous, current: externalId } });
}

/** Marks a message as failed, for a reason that agents see. Says message_updated; nothing for one that is not pending. */
export async function markFailed(tx: Transaction, reached: Reached, reason: string): Promise<void> {
  if (reached.message.status === 'pending') await change(tx, reached, { status: 'failed', externalError: reason });
}

/**
 * Takes a receipt for a message of the inbox. A message never goes back, and fails only before it was delivered. Says
 * message_updated when something changed. Returns the id of the conversation; null for an id that the inbox does not know.
 */
export async function takeReceipt(tx: Transaction, inboxId: number, receipt: Receipt): Promise<number | null> {
  const { externalId, status, reason } = receipt;
  const known = await findByExternalId(tx, inboxId, externalId);
  const messageId = known ?? receipt.messageId;
  const reached = messageId === null ? null : await reach(tx, inboxId, messageId);
  if (!reached) return null;
  const { conversation, message } = reached;
  if (!message || message.type === 'incoming' || message.private) return conversation.id;
  if (known === null) await keepExternalId(tx, { inboxId, externalId, messageId: message.id });
  if (!advances(message.status, status)) return conversation.id;
  const externalError = status === 'failed' ? (reason ?? 'The channel gave no reason') : null;
  const sourceId = message.sourceId ?? externalId;
  await change(tx, { conversation, message }, { status, externalError, sourceId });
  return conversation.id;
}

// The id of a message may come from the other system: only messages of its inbox are reached.
async function reach(
  tx: Transaction,
  inboxId: number,
  messageId: number,
): Promise<{ conversation: Conversation; message: Message | null } | null> {
  const conversationId = await conversationOf(tx, messageId);
  const conversation = conversationId === null ? null : await tx.conversation(conversationId);
  if (conversation?.inbox.id !== inboxId) return null;
  return { conversation, message: await findMessage(tx.sql, tx.account.id, conversation.id, messageId) };
}

function advances(present: Status, next: Receipt['status']): boolean {
  if (present === 'failed') return next === 'delivered' || next === 'read';
  return next === 'failed' ? ranks[present] <= ranks.sent : ranks[next] > ranks[present];
}

/**
 * Has the channel send a failed message again. Says message_updated. Errors: 404, 403; 409 for a message that has not failed; 422
 * for one that no channel sends.
 */
export async function retryMessage(
  tx: Transaction,
  { conversationId, messageId }: { conversationId: number; messageId: number },
): Promise<Reached> {
  const conversation = await lockConversation(tx, conversationId);
  const message = await findMessage(tx.sql, tx.account.id, conversation.id, messageId);
  if (!message || message.contentAttributes['deleted']) throw notFound('Message');
  if (conversation.inbox.channelId === null || message.type === 'incoming' || message.private)
    throw invalid('', 'channel', 'Only messages to customers in an inbox with a channel can be sent again');
  if (message.status !== 'failed')
    throw new ApiError(
      409,
      'not_failed',
      `Only a message that failed can be sent again: this one is ${message.status}`,
    );
  const reached = { conversation, message };
  await change(tx, reached, { status: 'pending', externalError: null });
  return reached;
}

async function change(
  tx: Transaction,
  { conversation, message }: Reached,
  {
    status,
    externalError,
    sourceId = message.sourceId,
  }: Pick<Message, 'status' | 'externalError'> & { sourceId?: string | null },
): Promise<void> {
  const changed: ChangedAttributes = { status: { previous: message.status, current: status } };
  Object.assign(message, {
    status,
    sourceId,
    externalError: externalError === null ? null : storableText(externalError, maxReasonChars),
  });
  await saveEdit(tx, { conversation, message }, changed);
}
