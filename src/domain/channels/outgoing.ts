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
  status: Exclude<Status, 'pending'>;
  reason: string | null;
}

const maxReasonChars = 1_000;
const ranks = { pending: 0, sent: 1, delivered: 2, read: 3 } as const;

/**
 * Marks a message as sent, known by this id in the other system. Says message_updated; nothing for one that is neither pending nor was
 * deleted while it was sent.
 */
export async function markSent(tx: Transaction, reached: Reached, externalId: string): Promise<void> {
  const { conversation, message } = reached;
  const wasDeleted = message.status === 'failed' && message.contentAttributes['deleted'] === true;
  if (message.status !== 'pending' && !wasDeleted) return;
  await keepExternalId(tx, { inboxId: conversation.inbox.id, externalId, messageId: message.id });
  await change(tx, reached, { status: 'sent', sourceId: externalId, externalError: null });
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
  const messageId = await findByExternalId(tx, inboxId, receipt.externalId);
  const conversationId = messageId === null ? null : await conversationOf(tx, messageId);
  if (messageId === null || conversationId === null) return null;
  const conversation = await tx.conversation(conversationId);
  const message = conversation && (await findMessage(tx.sql, tx.account.id, conversation.id, messageId));
  if (!message || message.type === 'incoming' || !advances(message.status, receipt.status)) return conversationId;
  const externalError = receipt.status === 'failed' ? (receipt.reason ?? 'The channel gave no reason') : null;
  await change(tx, { conversation, message }, { status: receipt.status, externalError });
  return conversationId;
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
