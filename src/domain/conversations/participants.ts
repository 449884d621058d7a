import type { Sql } from '../../postgres/sql.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';

/** Returns the ids of people who take part in a conversation: its assignee, and authors of its messages and notes. */
export async function findParticipants(sql: Sql, { id, account, assignee }: Conversation): Promise<number[]> {
  const rows = await sql<{ sender_id: number }>(
    `SELECT DISTINCT sender_id FROM messages
     WHERE account_id = $1 AND conversation_id = $2 AND sender_kind = 'user' AND sender_id IS NOT NULL`,
    [account.id, id],
  );
  return [...rows.map((row) => row.sender_id), ...(assignee ? [assignee.id] : [])];
}
