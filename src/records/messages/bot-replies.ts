import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';

const statement = prepared(`
  SELECT count(*)::int AS count FROM conversations c JOIN messages m ON m.account_id = c.account_id AND m.conversation_id = c.id
  WHERE c.account_id = $1 AND c.id = $2 AND m.sender_kind = 'agent_bot' AND m.sender_id = $3
    AND NOT m.private AND NOT m.content_attributes ? 'handoff'
    AND m.created_at >= coalesce(c.session_began_at, '-infinity')`);

/**
 * Public messages that a bot has sent in the present session of a conversation, in runs and through the API; lines with which
 * it handed the conversation over do not count.
 */
export async function countBotReplies(
  sql: Sql,
  { accountId, conversationId, botId }: { accountId: number; conversationId: number; botId: number },
): Promise<number> {
  const [row] = await sql<{ count: number }>(statement, [accountId, conversationId, botId]);
  return row?.count ?? 0;
}
