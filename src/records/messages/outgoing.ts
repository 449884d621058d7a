import type { Sql } from '../../postgres/sql.ts';
import { findConversation } from '../conversations/rows.ts';
import type { Conversation } from '../conversations/conversation.ts';
import { findMessage, type Message } from './message.ts';

/** A message that a channel may have to send. */
export interface OutgoingMessage {
  conversation: Conversation;
  message: Message;
  /** The customer in the other system; null where the contact is not known there. */
  sourceId: string | null;
  thread: Thread;
}

/** Messages before one, by the ids that the other system knows. */
interface Thread {
  /** The customer's last message before it; null without one. */
  inReplyTo: { externalId: string; mail: Record<string, unknown> | null } | null;
  /** Messages of the conversation before it, oldest first. */
  references: readonly string[];
}

const maxReferences = 20;

/** Returns a message of the conversation, and to whom a channel sends it; null when it was deleted. */
export async function findOutgoing(
  sql: Sql,
  accountId: number,
  { conversationId, messageId }: { conversationId: number; messageId: number },
): Promise<OutgoingMessage | null> {
  const [conversation, message] = await Promise.all([
    findConversation(sql, accountId, conversationId),
    findMessage(sql, accountId, conversationId, messageId),
  ]);
  if (!conversation || !message || (message.content === '' && message.attachments.length === 0)) return null;
  const [sourceId, thread] = await Promise.all([
    sourceOf(sql, accountId, conversation),
    threadOf(sql, accountId, { conversationId, messageId }),
  ]);
  return { conversation, message, sourceId, thread };
}

interface Earlier {
  source_id: string;
  type: string;
  mail: Record<string, unknown> | null;
}

async function threadOf(
  sql: Sql,
  accountId: number,
  { conversationId, messageId }: { conversationId: number; messageId: number },
): Promise<Thread> {
  const rows = await sql<Earlier>(
    `SELECT source_id, message_type AS type, content_attributes -> 'mail' AS mail FROM messages
     WHERE account_id = $1 AND conversation_id = $2 AND id < $3 AND NOT private AND source_id IS NOT NULL
     ORDER BY id DESC LIMIT ${maxReferences}`,
    [accountId, conversationId, messageId],
  );
  const last = rows.find(({ type }) => type === 'incoming');
  return {
    inReplyTo: last ? { externalId: last.source_id, mail: last.mail } : null,
    references: rows.map(({ source_id: id }) => id).toReversed(),
  };
}

// Identifiers that the service made admit visitors: no other system knows the contact by them.
async function sourceOf(
  sql: Sql,
  accountId: number,
  { sourceId, contact, inbox }: Conversation,
): Promise<string | null> {
  if (sourceId !== null) return sourceId;
  const [found] = await sql<{ source_id: string }>(
    `SELECT source_id FROM contact_inboxes WHERE account_id = $1 AND contact_id = $2 AND inbox_id = $3 AND NOT admits
     ORDER BY id DESC LIMIT 1`,
    [accountId, contact.id, inbox.id],
  );
  return found?.source_id ?? null;
}
