import type { Conversation } from '../../records/conversations/conversation.ts';
import { findListedConversations, type ListedConversation } from '../../records/conversations/rows.ts';
import { findMessage, findMessages, type Message } from '../../records/messages/message.ts';
import { notFound } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { change } from '../changes.ts';
import { createConversation, plainConversation } from '../conversations/lifecycle.ts';
import { saveEdit } from '../conversations/messages/edits.ts';
import { sendInto } from '../conversations/send.ts';
import { undergo } from '../conversations/status.ts';
import { readAnswer } from './answers.ts';
import { lockClient } from './clients.ts';
import { contactBlocked, markConversationRead, reply, type Said } from './messages.ts';
import { keepEmail } from './sessions.ts';
import type { Visit } from './visits.ts';

const atOnce = 25;
const ownId = `SELECT c.id FROM conversations c JOIN contact_inboxes k
    ON k.account_id = c.account_id AND k.contact_id = c.contact_id AND k.inbox_id = c.inbox_id
  WHERE c.account_id = $1 AND c.inbox_id = $2 AND k.source_id = $3 AND k.admits`;

/** A conversation of a client, with its newest public message. */
export type ClientConversation = ListedConversation;

/** The newest 25 conversations of the visit's contact in the inbox, or the 25 before the one with that id; the newest first. */
export function listOwn(sql: Sql, visit: Visit, before: number | null): Promise<ClientConversation[]> {
  return findOwn(sql, visit, 'AND ($4::bigint IS NULL OR c.id < $4) ORDER BY c.id DESC LIMIT $5', [before, atOnce]);
}

/** A conversation of the visit's contact in the inbox. Errors: 404. */
export async function readOwn(sql: Sql, visit: Visit, id: number): Promise<ClientConversation> {
  const [found] = await findOwn(sql, visit, 'AND c.id = $4', [id]);
  if (!found) throw notFound('Conversation');
  return found;
}

/**
 * Checks that the visit's contact may write into its conversation, before files are stored; `speakInOwn` checks again.
 * Errors: 403 `contact_blocked`, 404.
 */
export async function needWritable(sql: Sql, visit: Visit, id: number): Promise<void> {
  const { conversation } = await readOwn(sql, visit, id);
  if (conversation.contact.blocked) throw contactBlocked();
}

/** Begins a conversation of the visit's contact. Says conversation_created. Errors: 403 `contact_blocked`, 404. */
export async function beginOwn(
  tx: Transaction,
  visit: Visit,
  visitorAttributes: Record<string, unknown>,
): Promise<Conversation> {
  const contactId = await lockClient(tx, visit);
  const { conversation } = await createConversation(tx, {
    ...plainConversation(visit.inbox.id, contactId),
    additionalAttributes: Object.keys(visitorAttributes).length > 0 ? { visitor_attributes: visitorAttributes } : {},
  });
  if (conversation.contact.blocked) throw contactBlocked();
  return conversation;
}

/** Resolves a conversation of the visit's contact. Says what `toggleStatus` says. Errors: 403 `contact_blocked`, 404. */
export async function resolveOwn(tx: Transaction, visit: Visit, id: number): Promise<Conversation> {
  const conversation = await lockToWrite(tx, visit, id);
  undergo(tx, conversation, { kind: 'status', to: 'resolved' });
  return conversation;
}

/** Sends a message of the visit's contact into its conversation; see `speak`. Errors: 403 `contact_blocked`, 404, 422. */
export async function speakInOwn(
  tx: Transaction,
  visit: Visit,
  { id, content, attachments = [], answer = null }: Said & { id: number },
): Promise<Message> {
  const conversation = await lockToWrite(tx, visit, id);
  if (answer) return (await reply(tx, conversation, { content, ...answer })).message;
  return sendInto(tx, conversation, { type: 'incoming', content, attachments });
}

/**
 * Stores what the contact submits with the message that asks for it; an e-mail address becomes the contact's. Says
 * message_updated when it changes, and contact_updated. Errors: 403 `contact_blocked`, 404, 422 when the message asks for nothing,
 * or for something else.
 */
export async function submitToOwn(
  tx: Transaction,
  visit: Visit,
  { id, messageId, value }: { id: number; messageId: number; value: string },
): Promise<Message> {
  const conversation = await lockToWrite(tx, visit, id);
  const message = await findMessage(tx.sql, tx.account.id, conversation.id, messageId);
  if (!message || message.private) throw notFound('Message');
  const answer = await readAnswer(tx, conversation, { content: value, value: null, inReplyTo: messageId });
  if (answer.email !== null) await keepEmail(tx, conversation, answer.email);
  const { in_reply_to: _, ...submitted } = answer.contentAttributes;
  const changed = change(message, { contentAttributes: { ...message.contentAttributes, ...submitted } });
  if (changed) await saveEdit(tx, { conversation, message }, changed);
  return message;
}

/**
 * Says conversation_typing_on or conversation_typing_off of a conversation of the visit's contact. Errors: 403 `contact_blocked`,
 * 404.
 */
export async function typeInOwn(
  tx: Transaction,
  visit: Visit,
  { id, isTyping }: { id: number; isTyping: boolean },
): Promise<void> {
  const conversation = await lockToWrite(tx, visit, id);
  tx.record(isTyping ? 'conversation_typing_on' : 'conversation_typing_off', { conversation });
}

/** Sets the status of messages to the contact to `read`: see markConversationRead. Errors: 404. */
export async function markOwnRead(tx: Transaction, visit: Visit, id: number): Promise<Conversation> {
  const conversation = await lockOwn(tx, visit, id);
  await markConversationRead(tx, conversation);
  return conversation;
}

async function withPublic(sql: Sql, listed: ListedConversation): Promise<ClientConversation> {
  if (!listed.lastMessage?.private) return listed;
  const { conversation } = listed;
  const window = { publicOnly: true, limit: 1, isShortened: true };
  const [last = null] = await findMessages(sql, conversation.account.id, conversation.id, window);
  return { conversation, lastMessage: last };
}

async function findOwn(sql: Sql, { account, inbox, sourceId }: Visit, rest: string, values: unknown[]) {
  const parameters = [account.id, inbox.id, sourceId, ...values];
  const rows = await sql<{ id: number }>(`${ownId} ${rest}`, parameters);
  const found = await findListedConversations(
    sql,
    account.id,
    rows.map(({ id }) => id),
  );
  return Promise.all(found.map((one) => withPublic(sql, one)));
}

// In one round trip: what the second statement sees is from after the wait of the first.
async function lockOwn(tx: Transaction, visit: Visit, id: number): Promise<Conversation> {
  const parameters = [visit.inbox.id, visit.sourceId, id];
  const [, [conversation]] = await Promise.all([
    lockClient(tx, visit),
    tx.conversations({ ids: `${ownId} AND c.id = $4`, parameters, hot: true, reserves: true }),
  ]);
  if (!conversation) throw notFound('Conversation');
  return conversation;
}

async function lockToWrite(tx: Transaction, visit: Visit, id: number): Promise<Conversation> {
  const conversation = await lockOwn(tx, visit, id);
  if (conversation.contact.blocked) throw contactBlocked();
  return conversation;
}
