import { moment, type Sql } from '../../postgres/sql.ts';

/** A message of the customer. */
export interface CustomerWords {
  id: number;
  content: string;
  createdAt: Date;
}

/** The customer's messages in a conversation from one on, in their order. */
export async function findCustomerWords(
  sql: Sql,
  { accountId, conversationId }: { accountId: number; conversationId: number },
  { from, limit }: { from: number; limit: number },
): Promise<CustomerWords[]> {
  const rows = await sql<{ id: number; content: string; created_at: string }>(
    `SELECT id, content, created_at FROM messages
     WHERE account_id = $1 AND conversation_id = $2 AND id >= $3 AND message_type = 'incoming' ORDER BY id LIMIT $4`,
    [accountId, conversationId, from, limit],
  );
  return rows.map(({ id, content, created_at: at }) => ({ id, content, createdAt: moment(at) }));
}
