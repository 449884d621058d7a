import type { Attachment } from '../../records/messages/attachment.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import { findMessagesById, type Message } from '../../records/messages/message.ts';
import { forbidden, notFound, type ApiError } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { sendInto } from '../conversations/send.ts';
import { nothingAsked, readAnswer, type GivenAnswer } from './answers.ts';
import type { Visit } from './visits.ts';
import { begin, findCurrent, keepEmail, lockCurrent, lockVisitor } from './sessions.ts';

/** Returns the conversation that the visit's contact continues, or null. */
export async function readCurrent(sql: Sql, { account, inbox, contact }: Visit): Promise<Conversation | null> {
  return contact && findCurrent(sql, account.id, { inboxId: inbox.id, contactId: contact.id });
}

async function isBlocked(sql: Sql, accountId: number, contactId: number): Promise<boolean> {
  const rows = await sql('SELECT FROM contacts WHERE account_id = $1 AND id = $2 AND blocked', [accountId, contactId]);
  return rows.length > 0;
}

/** Checks that the visit's contact may write, before files are stored; `speak` checks again. Errors: 403 `contact_blocked`. */
export async function needUnblocked(sql: Sql, { account, contact }: Visit): Promise<void> {
  if (contact && (await isBlocked(sql, account.id, contact.id))) throw contactBlocked();
}

/** Message of a contact; with `answer` if it answers the question of a message. */
export interface Said {
  content: string;
  attachments?: readonly Attachment[];
  answer?: Omit<GivenAnswer, 'content'> | null;
}

/**
 * Sends a message of the visit's contact: into its unresolved conversation in the inbox, else into its newest, which is
 * reopened, else into a new one. A requested e-mail address becomes the contact's. Says the events of `send`,
 * conversation_created, contact_updated. Errors: 401, 403 `contact_blocked`, 422 for an answer without a question.
 */
export async function speak(
  tx: Transaction,
  visit: Visit,
  { content, attachments = [], answer = null }: Said,
): Promise<{ message: Message; conversation: Conversation }> {
  const { contactId, current } = await enter(tx, visit);
  if (answer) return reply(tx, current, { content, ...answer });
  const conversation = current ?? (await begin(tx, visit, contactId));
  return { message: await sendInto(tx, conversation, { type: 'incoming', content, attachments }), conversation };
}

async function enter(tx: Transaction, visit: Visit): Promise<{ contactId: number; current: Conversation | null }> {
  const known = visit.contact?.id ?? null;
  const lockIn = (id: number) => lockCurrent(tx, { inboxId: visit.inbox.id, contactId: id });
  const [contactId, found] = await Promise.all([lockVisitor(tx, visit), known === null ? null : lockIn(known)]);
  // The contact may have been merged meanwhile: its conversations are the other's then.
  const current = contactId === known ? found : await lockIn(contactId);
  const blocked = current ? current.contact.blocked : await isBlocked(tx.sql, tx.account.id, contactId);
  if (blocked) throw contactBlocked();
  return { contactId, current };
}

/** 403: the contact is blocked. */
export function contactBlocked(): ApiError {
  return forbidden('You cannot send messages here any more', 'contact_blocked');
}

/** Sends a contact's answer to a message of its locked conversation. Errors: 422 for an answer without a question. */
export async function reply(
  tx: Transaction,
  conversation: Conversation | null,
  given: GivenAnswer,
): Promise<{ message: Message; conversation: Conversation }> {
  if (!conversation) throw nothingAsked();
  const { content, contentAttributes, email } = await readAnswer(tx, conversation, given);
  if (email !== null) await keepEmail(tx, conversation, email);
  return { message: await sendInto(tx, conversation, { type: 'incoming', content, contentAttributes }), conversation };
}

/** Receipts of one call; later calls write the rest. */
const maxReceipts = 100;

async function takeUnread(tx: Transaction, conversationId: number): Promise<Message[]> {
  const rows = await tx.sql<{ id: number }>(
    `SELECT id FROM messages WHERE account_id = $1 AND conversation_id = $2 AND message_type = 'outgoing' AND NOT private
       AND status IN ('sent', 'delivered') ORDER BY created_at DESC, id DESC LIMIT $3`,
    [tx.account.id, conversationId, maxReceipts],
  );
  const ids = rows.map(({ id }) => id);
  const messages = await findMessagesById(tx.sql, tx.account.id, ids);
  return messages.sort((one, other) => one.id - other.id);
}

/** Like markConversationRead, in the conversation that the visit's contact continues. Errors: 404 without a conversation. */
export async function markRead(tx: Transaction, { inbox, contact }: Visit): Promise<Conversation> {
  const conversation = contact && (await lockCurrent(tx, { inboxId: inbox.id, contactId: contact.id }));
  if (!conversation) throw notFound('Conversation');
  await markConversationRead(tx, conversation);
  return conversation;
}

/**
 * Sets the status of messages to the contact of a locked conversation to `read`, the newest 100 at a time. Says message_updated
 * for each, to account webhooks only, since a receipt is no edit.
 */
export async function markConversationRead(tx: Transaction, conversation: Conversation): Promise<void> {
  const unread = await takeUnread(tx, conversation.id);
  if (unread.length === 0) return;
  await tx.sql(`UPDATE messages SET status = 'read', updated_at = $3 WHERE account_id = $1 AND id = ANY ($2)`, [
    tx.account.id,
    unread.map(({ id }) => id),
    tx.now,
  ]);
  for (const message of unread) {
    const changed = { status: { previous: message.status, current: 'read' } };
    tx.record('message_updated', { conversation, message: { ...message, status: 'read' }, changed });
  }
}
