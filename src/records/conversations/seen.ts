import type { Sql } from '../../postgres/sql.ts';

const statement = `
  UPDATE conversations SET seen_through = (SELECT max(id) FROM messages WHERE account_id = $1 AND conversation_id = $2)
  WHERE account_id = $1 AND id = $2`;

/** Notes up to which message a locked conversation was read: the ledger counts the unread messages again. */
export async function noteSeen(sql: Sql, accountId: number, id: number): Promise<void> {
  await sql(statement, [accountId, id]);
}
