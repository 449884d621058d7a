import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { writeSet } from '../../postgres/write-set.ts';
import { attachFiles, type Attachment } from '../../records/messages/attachment.ts';
import { findMessage, saveMessage, type Message } from '../../records/messages/message.ts';
import { discardFiles, holdFiles } from '../attachments/rows.ts';

/** A copied message that lacks files. */
export interface MissingFiles {
  /** Id here. */
  messageId: number;
  /** Id in the source. */
  foreignId: number;
  foreignConversationId: number;
  /** Positions of the files in its list in the source, from 0. */
  positions: readonly number[];
}

/** Result of another request for missing files. */
export interface FoundFiles {
  files: readonly Attachment[];
  /** Positions of the files that are still missing. */
  positions: readonly number[];
  /** Descriptions of all attachments that are not copied, for `content_attributes.chatwoot.attachments`. */
  words: readonly object[];
  /** Text that stood for the files in a message without one; it is removed. */
  placeholder: string;
}

/** Records which files of messages are missing; to be called in the transaction that writes the messages. */
export async function noteMissingFiles(
  tx: Transaction,
  importId: number,
  missing: readonly MissingFiles[],
): Promise<void> {
  const statement = `INSERT INTO missing_files
      (account_id, import_id, message_id, foreign_conversation_id, foreign_id, positions) VALUES ($1, $2, $3, $4, $5, $6)`;
  for (const { messageId, foreignConversationId, foreignId, positions } of missing)
    await tx.sql(statement, [tx.account.id, importId, messageId, foreignConversationId, foreignId, positions]);
}

interface Row {
  message_id: number;
  foreign_id: number;
  foreign_conversation_id: number;
  positions: number[];
}

/** Returns a page of messages that lack files, after one of them. */
export async function findMissingFiles(
  sql: Sql,
  { accountId, importId }: { accountId: number; importId: number },
  { after, limit }: { after: number; limit: number },
): Promise<MissingFiles[]> {
  const rows = await sql<Row>(
    `SELECT message_id, foreign_id, foreign_conversation_id, positions FROM missing_files
     WHERE account_id = $1 AND import_id = $2 AND message_id > $3 ORDER BY message_id LIMIT $4`,
    [accountId, importId, after, limit],
  );
  return rows.map((row) => ({
    messageId: row.message_id,
    foreignId: row.foreign_id,
    foreignConversationId: row.foreign_conversation_id,
    positions: row.positions,
  }));
}

/**
 * Adds files to an old message that lacked them, without an event; returns whether it got them. A message that was deleted here
 * gets none, and files that another run has added are kept.
 */
export async function addMissingFiles(tx: Transaction, missing: MissingFiles, found: FoundFiles): Promise<boolean> {
  const message = await holdMessage(tx, missing);
  if (message === null) {
    await discardFiles(tx, found.files);
    return false;
  }
  if (found.files.length > 0) await attach(tx, message, found);
  await settle(tx, missing, found.positions);
  return true;
}

// Deleting a message locks its conversation first.
async function holdMessage(tx: Transaction, { messageId, positions }: MissingFiles): Promise<Message | null> {
  const scope = [tx.account.id, messageId];
  const place = 'SELECT conversation_id FROM messages WHERE account_id = $1 AND id = $2';
  const [row] = await tx.sql<{ conversation_id: number }>(place, scope);
  const conversation = row ? await tx.conversation(row.conversation_id) : null;
  if (!conversation) return null;
  const noted = 'SELECT positions FROM missing_files WHERE account_id = $1 AND message_id = $2 FOR UPDATE';
  const [known] = await tx.sql<{ positions: number[] }>(noted, scope);
  const message = await findMessage(tx.sql, tx.account.id, conversation.id, messageId);
  if (!message || !isDeepStrictEqual(known?.positions, positions)) return null;
  if (message.content !== '' || message.attachments.length > 0) return message;
  await settle(tx, { messageId }, []);
  return null;
}

async function attach(tx: Transaction, message: Message, { files, words, placeholder }: FoundFiles): Promise<void> {
  await holdFiles(tx, files);
  const { chatwoot, ...own } = message.contentAttributes;
  const { attachments: _before, ...rest } = chatwoot as Record<string, unknown>;
  Object.assign(message, {
    content: message.content === placeholder ? '' : message.content,
    contentAttributes: { ...own, chatwoot: { ...rest, ...(words.length > 0 ? { attachments: words } : {}) } },
    attachments: [...message.attachments, ...files],
  });
  await saveMessage(tx.sql, tx.account.id, message, tx.now);
  const statement = writeSet(tx.account.id, attachFiles([{ ...message, attachments: files }]));
  if (statement) await tx.sql(statement.text, statement.parameters);
}

/** Records the files that are still missing. */
async function settle(
  tx: Transaction,
  { messageId }: Pick<MissingFiles, 'messageId'>,
  positions: readonly number[],
): Promise<void> {
  const scope = [tx.account.id, messageId];
  await (positions.length === 0
    ? tx.sql('DELETE FROM missing_files WHERE account_id = $1 AND message_id = $2', scope)
    : tx.sql('UPDATE missing_files SET positions = $3 WHERE account_id = $1 AND message_id = $2', [
        ...scope,
        positions,
      ]));
}
