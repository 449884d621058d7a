import type { Conversation } from '../../../records/conversations/conversation.ts';
import { findMessage, saveMessage, type Message } from '../../../records/messages/message.ts';
import { ApiError, forbidden, invalid, notFound } from '../../../errors.ts';
import type { ChangedAttributes } from '../../../events/catalog.ts';
import { findProblems } from '../../../schemas.ts';
import { eraseResponses } from '../../../deliveries/log/erase.ts';
import { blankMessage } from '../../../events/stored-payloads.ts';
import type { Actor, Transaction } from '../../../events/transaction.ts';
import { deleteFilesOf, forgetAwaited } from '../../attachments/rows.ts';
import { eraseHookRequestsOf } from '../../upkeep/hook-subjects.ts';
import { eraseAnswers } from '../../upkeep/idempotency-keys.ts';
import { lockConversation } from '../access.ts';
import { decide } from '../arbiter.ts';
import { eraseFromRuns } from '../bots/run-erasure.ts';
import { change, merge } from '../../changes.ts';

/** Changes of a message; undefined leaves a field unchanged, attributes are merged key by key. */
export interface MessageChanges {
  status: Message['status'] | undefined;
  content: string | undefined;
  contentAttributes: Record<string, unknown> | undefined;
}

interface Place {
  conversationId: number;
  messageId: number;
}

const progress = { failed: 0, pending: 0, sent: 1, delivered: 2, read: 3 } as const;

/**
 * Changes a message. Says message_updated when something changed. Errors: 404, 403 for editing somebody else's content
 * without being administrator, 422 for a status that would go back and for editing a deleted message.
 */
export async function updateMessage(
  tx: Transaction,
  place: Place,
  { status, content, contentAttributes }: MessageChanges,
): Promise<{ conversation: Conversation; message: Message }> {
  const reached = await reach(tx, place);
  const { message } = reached;
  if (content !== undefined || contentAttributes) checkEdit(tx.actor, message);
  if (status) checkStatus(message, status);
  const merged = merge('/content_attributes', message.contentAttributes, contentAttributes);
  if (merged && contentAttributes?.['items']) checkItems(message, merged);
  const changed = change(message, { status, content, contentAttributes: merged });
  if (!changed) return reached;
  await saveEdit(tx, reached, changed);
  return reached;
}

async function reach(tx: Transaction, place: Place): Promise<{ conversation: Conversation; message: Message }> {
  const conversation = await lockConversation(tx, place.conversationId);
  const message = await findMessage(tx.sql, tx.account.id, conversation.id, place.messageId);
  if (!message) throw notFound('Message');
  return { conversation, message };
}

function checkEdit(actor: Actor, message: Message): void {
  const isAuthor = message.sender.kind === actor.kind && message.sender.id === actor.id;
  if (!isAuthor && actor.role !== 'administrator') {
    throw forbidden('Only the author of a message or an administrator may edit it');
  }
  if (isDeleted(message)) throw invalid('/content', 'deleted', 'A deleted message cannot be edited');
}

// Nobody can send a message without content and files.
function isDeleted({ content, attachments }: Message): boolean {
  return content === '' && attachments.length === 0;
}

// Choices and cards stay such as could be sent.
function checkItems({ contentType, type }: Message, contentAttributes: Record<string, unknown>): void {
  const sent = { message_type: type, content_type: contentType, content_attributes: contentAttributes };
  const details = findProblems('shapes/new-message', sent);
  const [first] = details;
  if (first) throw new ApiError(422, 'validation_failed', first.message, { details });
}

// A status only advances, since receipts may arrive late or get lost; a failed message may have been sent again.
function checkStatus(message: Message, status: Message['status']): void {
  if (status === 'failed' || progress[status] >= progress[message.status]) return;
  throw invalid('/status', 'transition', `A message that is ${message.status} cannot become ${status}`);
}

/** Writes a changed message of a locked conversation. Says message_updated. */
export async function saveEdit(
  tx: Transaction,
  { conversation, message }: { conversation: Conversation; message: Message },
  changed: ChangedAttributes,
): Promise<void> {
  await saveMessage(tx.sql, tx.account.id, message, tx.now);
  // A receipt is no edit: bots do not receive it.
  const edited = Object.keys(changed).some((name) => name !== 'status');
  const decision = edited ? decide('message_updated', conversation, tx.actor, message) : null;
  tx.record('message_updated', { conversation, message, changed }, decision);
}

// A channel sends nothing that was deleted.
function unsend(message: Message): ChangedAttributes {
  if (message.status !== 'pending') return {};
  Object.assign(message, { status: 'failed', externalError: 'The message was deleted before it was sent' });
  return { status: { previous: 'pending', current: message.status } };
}

/**
 * Deletes the content of a message and its files, here, in its recorded events, in stored answers and in the records of runs, and marks it deleted; one that a channel has yet to send fails. Says
 * message_updated, with null as the previous content, and message_deleted; nothing for a message deleted before. Errors: 404, 403.
 */
export async function deleteMessage(tx: Transaction, asked: Place): Promise<void> {
  const reached = await reach(tx, asked);
  const { conversation, message } = reached;
  if (isDeleted(message)) return;
  const place = { conversationId: conversation.id, messageId: message.id };
  const eventIds = await blankMessage(tx, place);
  await eraseResponses(tx, { conversationId: conversation.id, eventIds });
  await eraseFromRuns(tx, { ...place, content: message.content });
  await eraseHookRequestsOf(tx, { conversationId: conversation.id, content: message.content });
  await eraseAnswers(tx.sql, 'message', [message.id]);
  await deleteFilesOf(tx, message);
  await forgetAwaited(tx, message.id);
  const gone = { content: '', contentAttributes: { deleted: true } };
  Object.assign(message, gone, { attachments: [] });
  await saveEdit(tx, reached, {
    content: { previous: null, current: gone.content },
    content_attributes: { previous: null, current: gone.contentAttributes },
    ...unsend(message),
  });
  tx.record('message_deleted', { conversation, message });
}
