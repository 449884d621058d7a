import { findListedConversations, type ListedConversation } from '../../../records/conversations/rows.ts';
import type { Actor } from '../../../events/transaction.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { visibleConversations } from '../access.ts';

/** The last active conversations with any of the contacts that the actor may see. */
export async function findConversationsOf(
  sql: Sql,
  { accountId, actor }: { accountId: number; actor: Actor },
  { contactIds, most }: { contactIds: readonly number[]; most: number },
): Promise<ListedConversation[]> {
  if (contactIds.length === 0) return [];
  const rows = await sql<{ id: number }>(
    `SELECT c.id FROM conversations c
     WHERE c.account_id = $1 AND c.contact_id = ANY ($3) AND ${visibleConversations(actor)}
     ORDER BY c.last_activity_at DESC, c.id DESC LIMIT $4`,
    [accountId, actor.id, contactIds, most],
  );
  return findListedConversations(
    sql,
    accountId,
    rows.map(({ id }) => id),
  );
}
