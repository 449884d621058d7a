import { system, type Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Attachment } from '../../records/messages/attachment.ts';
import { findMessagesById, type Message } from '../../records/messages/message.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import { attachTo, forgetAwaited, holdFiles } from '../attachments/rows.ts';
import { saveEdit } from '../conversations/messages/edits.ts';
import { sendInto } from '../conversations/send.ts';
import { conversationOf } from './external-ids.ts';

/** A file of a customer's message that is still to be fetched: its place among the message's files. */
export interface AwaitedFile {
  at: number;
  name: string;
}

/** A file that could not be received. */
export interface MissingFile {
  name: string;
  why: string;
}

/** Files of a message that is known already, as they were fetched for it. */
interface FetchedFiles {
  inboxId: number;
  externalId: string;
  messageId: number;
  /** The places that were awaited when the files were fetched. */
  expected: readonly number[];
  attachments: readonly Attachment[];
  missing: readonly MissingFile[];
  awaited: readonly AwaitedFile[];
}

/**
 * Returns the places of the files that messages of the inbox still await from the request, by the external ids of those that are
 * known. What another request names for the same id is not waited for: ids such as those of mails are known to others.
 */
export async function findAwaited(
  sql: Sql,
  { accountId, inboxId, requestId }: { accountId: number; inboxId: number; requestId: number | null },
  externalIds: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  if (externalIds.length === 0) return new Map();
  const rows = await sql<{ external_id: string; awaited: AwaitedFile[] | null }>(
    `SELECT external_id, CASE WHEN awaited_by = $4 THEN awaited END AS awaited FROM channel_messages
     WHERE account_id = $1 AND inbox_id = $2 AND external_id = ANY ($3)`,
    [accountId, inboxId, externalIds, requestId],
  );
  return new Map(rows.map(({ external_id: id, awaited }) => [id, (awaited ?? []).map(({ at }) => at)]));
}

/**
 * Adds files that a message awaited. Says message_updated when a file came or was given up, and message_created for the note that names
 * those given up. Does nothing when the message awaits other files by now.
 */
export async function attachAwaited(tx: Transaction, conversationId: number, fetched: FetchedFiles): Promise<void> {
  const { inboxId, externalId, messageId, expected, attachments, missing, awaited } = fetched;
  if (expected.length === 0 || awaited.length === expected.length) return;
  const conversation = await tx.conversation(conversationId);
  const [message] = await findMessagesById(tx.sql, tx.account.id, [messageId]);
  if (!conversation || !message || message.contentAttributes['deleted']) return;
  const changed = await tx.sql(
    `UPDATE channel_messages SET awaited = $5::jsonb WHERE account_id = $1 AND inbox_id = $2 AND external_id = $3
     AND jsonb_path_query_array(awaited, '$[*].at') = $4::jsonb RETURNING message_id`,
    [tx.account.id, inboxId, externalId, JSON.stringify(expected), jsonOf(awaited)],
  );
  if (changed.length === 0) return;
  if (attachments.length > 0) {
    await holdFiles(tx, attachments);
    await attachTo(tx, message, attachments);
  }
  await settleFiles(tx, { conversation, message }, { left: awaited.length, missing });
}

/** Gives up the files that messages await for a request of a hook. Says the events of `attachAwaited`. */
export async function giveUpAwaited(tx: Transaction, requestId: number, why: string): Promise<void> {
  const rows = await tx.sql<{ message_id: number; awaited: AwaitedFile[] }>(
    'SELECT message_id, awaited FROM channel_messages WHERE account_id = $1 AND awaited_by = $2 AND awaited IS NOT NULL',
    [tx.account.id, requestId],
  );
  for (const { message_id: messageId, awaited } of rows) {
    const conversationId = await conversationOf(tx, messageId);
    const conversation = conversationId === null ? null : await tx.conversation(conversationId);
    const [message] = await findMessagesById(tx.sql, tx.account.id, [messageId]);
    await forgetAwaited(tx, messageId);
    if (!conversation || !message) continue;
    const missing = awaited.map(({ name }) => ({ name, why }));
    await settleFiles(tx, { conversation, message }, { left: 0, missing });
  }
}

/** Writes a private note that names files which could not be received; nothing without any. */
export async function nameMissing(
  tx: Transaction,
  conversation: Conversation,
  missing: readonly MissingFile[],
): Promise<void> {
  if (missing.length === 0) return;
  const content = missing.map(({ name, why }) => `The file ${name} could not be received: ${why}`).join('\n');
  await sendInto(tx.as(system), conversation, { type: 'outgoing', content, private: true });
}

/** JSON of the files that a message awaits; null for none. */
export function jsonOf(awaited: readonly AwaitedFile[]): string | null {
  return awaited.length === 0 ? null : JSON.stringify(awaited);
}

async function settleFiles(
  tx: Transaction,
  { conversation, message }: { conversation: Conversation; message: Message },
  { left, missing }: { left: number; missing: readonly MissingFile[] },
): Promise<void> {
  const { awaited_files: _, ...rest } = message.contentAttributes;
  const current = { ...rest, ...(left === 0 ? {} : { awaited_files: left }) };
  const changed = { content_attributes: { previous: message.contentAttributes, current } };
  message.contentAttributes = current;
  await saveEdit(tx, { conversation, message }, changed);
  await nameMissing(tx, conversation, missing);
}
