import { findListedConversations, type ListedConversation } from '../../../records/conversations/rows.ts';
import type { Actor } from '../../../events/transaction.ts';
import { conditionsSql, type Condition, type Filterable } from '../../../postgres/conditions.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { visibleConversations } from '../access.ts';
import { conversationsPerPage } from './list.ts';

const filterable: Filterable = {
  fields: {
    id: { kind: 'number', at: 'c.id' },
    display_id: { kind: 'number', at: 'c.id' },
    status: { kind: 'exact', at: 'c.status' },
    priority: { kind: 'exact', at: 'c.priority' },
    assignee_id: { kind: 'number', at: 'c.assignee_id' },
    team_id: { kind: 'number', at: 'c.team_id' },
    inbox_id: { kind: 'number', at: 'c.inbox_id' },
    contact_id: { kind: 'number', at: 'c.contact_id' },
    source_id: { kind: 'exact', at: 'c.source_id' },
    labels: {
      kind: 'titles',
      at: `ARRAY(SELECT l.title FROM conversation_labels cl JOIN labels l ON l.account_id = cl.account_id AND l.id = cl.label_id
        WHERE cl.account_id = c.account_id AND cl.conversation_id = c.id)`,
    },
  },
  attributes: 'c.custom_attributes',
};

/**
 * Returns one page of the conversations that the actor may see and that meet the conditions, the last active ones first; and
 * their total number. Errors: 422.
 */
export async function filterConversations(
  sql: Sql,
  { accountId, actor }: { accountId: number; actor: Actor },
  { conditions, page }: { conditions: readonly Condition[]; page: number },
): Promise<{ conversations: ListedConversation[]; count: number }> {
  const offset = (page - 1) * conversationsPerPage;
  const parameters: unknown[] = [accountId, actor.id, conversationsPerPage, offset];
  const condition = conditionsSql(conditions, filterable, parameters);
  const rows = await sql<{ count: number; id: number | null }>(
    `WITH found AS MATERIALIZED (
       SELECT c.id, c.last_activity_at FROM conversations c
       WHERE c.account_id = $1 AND ${visibleConversations(actor)} AND ${condition}
     )
     SELECT total.count, page.id FROM (SELECT count(*) AS count FROM found) total
     LEFT JOIN (SELECT * FROM found ORDER BY last_activity_at DESC, id DESC LIMIT $3 OFFSET $4) page ON true
     ORDER BY page.last_activity_at DESC, page.id DESC`,
    parameters,
  );
  const ids = rows.flatMap(({ id }) => id ?? []);
  return { conversations: await findListedConversations(sql, accountId, ids), count: rows[0]?.count ?? 0 };
}
