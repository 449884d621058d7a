import { ApiError } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Attachment } from '../../records/messages/attachment.ts';
import type { Message } from '../../records/messages/message.ts';

/**
 * Locks files that are stored and belong to no message yet, for a message of this transaction. Errors: 409 when one was
 * deleted meanwhile.
 */
export async function holdFiles(tx: Transaction, attachments: readonly Attachment[]): Promise<void> {
  const rows = await tx.sql(
    `SELECT FROM attachments WHERE account_id = $1 AND id = ANY ($2) AND message_id IS NULL ORDER BY id FOR UPDATE`,
    [tx.account.id, attachments.map(({ id }) => id)],
  );
  if (rows.length === attachments.length) return;
  throw new ApiError(409, 'conflict', 'The files are no longer stored: send the message again');
}

/** Gives stored files, which the transaction holds, to a message that is written already. */
export async function attachTo(tx: Transaction, message: Message, attachments: readonly Attachment[]): Promise<void> {
  await tx.sql('UPDATE attachments SET message_id = $3, conversation_id = $4 WHERE account_id = $1 AND id = ANY ($2)', [
    tx.account.id,
    attachments.map(({ id }) => id),
    message.id,
    message.conversationId,
  ]);
  message.attachments = [...message.attachments, ...attachments];
}

/** Deletes files that were stored for a message which was refused. */
export function discardFiles(tx: Transaction, attachments: readonly Attachment[]): Promise<void> {
  return discardRows(tx.sql, tx.account.id, attachments);
}

/** Deletes files of an account that belong to no message. */
export async function discardRows(sql: Sql, accountId: number, attachments: readonly Attachment[]): Promise<void> {
  const statement = 'DELETE FROM attachments WHERE account_id = $1 AND id = ANY ($2) AND message_id IS NULL';
  await sql(statement, [accountId, attachments.map(({ id }) => id)]);
}

/** Deletes the files of a message. */
export async function deleteFilesOf(tx: Transaction, { id, attachments }: Message): Promise<void> {
  if (attachments.length === 0) return;
  await tx.sql('DELETE FROM attachments WHERE account_id = $1 AND message_id = $2', [tx.account.id, id]);
}

/** Has a message await no files any more. */
export async function forgetAwaited({ sql, account }: Transaction, messageId: number): Promise<void> {
  await sql(
    'UPDATE channel_messages SET awaited = NULL WHERE account_id = $1 AND message_id = $2 AND awaited IS NOT NULL',
    [account.id, messageId],
  );
}

// A file has thousands of pieces where the database keeps it.
const filesAtOnce = 10;
const deleteSome = `
  DELETE FROM attachments WHERE account_id = $1 AND id IN (
    SELECT id FROM attachments WHERE account_id = $1 AND conversation_id = ANY ($2) LIMIT ${filesAtOnce}) RETURNING id`;

/** Deletes the files of conversations, in bounded statements. */
export async function deleteFilesIn(tx: Transaction, conversationIds: readonly number[]): Promise<void> {
  let deleted: unknown[];
  do deleted = await tx.sql(deleteSome, [tx.account.id, conversationIds]);
  while (deleted.length === filesAtOnce);
}
