import { findConversations } from '../../records/conversation-rows.ts';
import type { Conversation } from '../../records/conversation.ts';
import { findMessagesById, type Message } from '../../records/message.ts';
import type { Actor } from '../../events/transaction.ts';
import { containing } from '../../postgres/like.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import { visibleConversations } from './access.ts';

/** A conversation with matching public messages, and the newest of those, newest first. */
export interface FoundConversation {
  conversation: Conversation;
  messages: Message[];
}

/** Conversations on one page of a search. */
export const foundConversationsPerPage = 15;
// Enough to show why a conversation matched.
const messagesShown = 5;

interface Row {
  count: number;
  id: number | null;
  /** Numbers as text, which is how the driver returns arrays. */
  message_ids: string[] | null;
}

/**
 * One page of the conversations that the actor may see with a public message that contains the text in any case, newest
 * match first; and their total number.
 */
export async function searchConversations(
  executor: Executor,
  { accountId, actor }: { accountId: number; actor: Actor },
  { text, page }: { text: string; page: number },
): Promise<{ found: FoundConversation[]; count: number }> {
  const offset = (page - 1) * foundConversationsPerPage;
  const parameters = [accountId, actor.id, containing(text), foundConversationsPerPage, offset];
  const rows = await sql<Row>(executor, statement(actor), parameters);
  const hits = rows.flatMap(({ id, message_ids: messageIds }) =>
    id === null || !messageIds ? [] : [{ id, messageIds: messageIds.map(Number) }],
  );
  const conversations = await findConversations(
    executor,
    accountId,
    hits.map(({ id }) => id),
  );
  const messages = await findMessagesById(
    executor,
    accountId,
    hits.flatMap(({ messageIds }) => messageIds),
  );
  const byId = new Map(messages.map((message) => [message.id, message]));
  const found = conversations.map((conversation) => {
    const ids = hits.find(({ id }) => id === conversation.id)?.messageIds ?? [];
    return { conversation, messages: ids.flatMap((id) => byId.get(id) ?? []) };
  });
  return { found, count: rows[0]?.count ?? 0 };
}

// The LEFT JOIN keeps a row with the total when the page is empty.
function statement(actor: Actor): string {
  return `
    WITH found AS MATERIALIZED (
      SELECT m.conversation_id AS id, max(m.created_at) AS matched_at,
        (array_agg(m.id ORDER BY m.created_at DESC, m.id DESC))[1:${messagesShown}] AS message_ids
      FROM messages m JOIN conversations c ON c.account_id = m.account_id AND c.id = m.conversation_id
      WHERE m.account_id = $1 AND NOT m.private AND m.content ILIKE $3 AND ${visibleConversations(actor)}
      GROUP BY m.conversation_id
    )
    SELECT total.count, page.id, page.message_ids FROM (SELECT count(*) AS count FROM found) total
    LEFT JOIN (SELECT * FROM found ORDER BY matched_at DESC, id DESC LIMIT $4 OFFSET $5) page ON true
    ORDER BY page.matched_at DESC, page.id DESC`;
}
