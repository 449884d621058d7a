import type { Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { discardFiles } from '../attachments/rows.ts';
import { lockImported } from './imports.ts';
import { importMessages, type ForeignMessage } from './messages.ts';

/** A message that was left out, by its ids there. */
export interface MissingMessage {
  foreignId: number;
  foreignConversationId: number;
}

/** Notes messages that are left out; to be called in the transaction that goes beyond them. */
export async function noteMissingMessages(
  tx: Transaction,
  importId: number,
  missing: readonly MissingMessage[],
): Promise<void> {
  const statement = `INSERT INTO missing_messages (account_id, import_id, foreign_id, foreign_conversation_id)
    VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`;
  for (const { foreignId, foreignConversationId } of missing)
    await tx.sql(statement, [tx.account.id, importId, foreignId, foreignConversationId]);
}

/** Messages that an import left out, behind one of them: a page. */
export async function findMissingMessages(
  sql: Sql,
  { accountId, importId }: { accountId: number; importId: number },
  { after, limit }: { after: number; limit: number },
): Promise<MissingMessage[]> {
  const rows = await sql<{ foreign_id: number; foreign_conversation_id: number }>(
    `SELECT foreign_id, foreign_conversation_id FROM missing_messages
     WHERE account_id = $1 AND import_id = $2 AND foreign_id > $3 ORDER BY foreign_id LIMIT $4`,
    [accountId, importId, after, limit],
  );
  return rows.map((row) => ({ foreignId: row.foreign_id, foreignConversationId: row.foreign_conversation_id }));
}

/**
 * Adds a message that was left out, as it was, without telling anybody; whether it did. One whose conversation was deleted here,
 * or that another run has added, is not.
 */
export async function addMissingMessage(
  tx: Transaction,
  importId: number,
  { foreignId, foreignConversationId }: MissingMessage,
  message: ForeignMessage,
): Promise<boolean> {
  const wanted = { kind: 'conversation', foreignIds: [foreignConversationId] } as const;
  const known = (await lockImported(tx, importId, wanted)).get(foreignConversationId);
  const conversation = known ? await tx.conversation(known.localId) : null;
  const isMissing = await forgetMissingMessage(tx, importId, foreignId);
  if (conversation && isMissing) {
    await importMessages(tx, conversation, { importId, foreignId: foreignConversationId, messages: [message] });
    return true;
  }
  await discardFiles(tx, message.attachments);
  return false;
}

/** Asks for a message no more; whether it was asked for. */
export async function forgetMissingMessage(tx: Transaction, importId: number, foreignId: number): Promise<boolean> {
  const statement = `DELETE FROM missing_messages WHERE account_id = $1 AND import_id = $2 AND foreign_id = $3
    RETURNING foreign_id`;
  return (await tx.sql(statement, [tx.account.id, importId, foreignId])).length > 0;
}
