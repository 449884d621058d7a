import { findConversations, type Conversation, type ConversationStatus } from '../entities/conversation.ts';
import type { Actor } from '../events/transaction.ts';
import { sql, type Executor } from '../lib/sql.ts';
import { visibleConversations } from './access.ts';

export interface ConversationFilter {
  status: ConversationStatus | null;
  assigneeType: 'me' | 'unassigned' | 'all' | 'assigned';
  /** Titles; a conversation with any of them matches. */
  labels: readonly string[] | null;
  sort: 'created_at' | 'updated_at' | 'last_activity_at';
  ascending: boolean;
  page: number;
}

/** How many conversations match, whoever they are assigned to. */
export interface ConversationCounts {
  all: number;
  mine: number;
  unassigned: number;
  assigned: number;
}

/** Conversations on one page of the list. */
export const conversationsPerPage = 25;

const assigneeConditions = {
  me: 'c.assignee_id = $2',
  unassigned: 'c.assignee_id IS NULL',
  assigned: 'c.assignee_id IS NOT NULL',
  all: 'true',
} as const;

function matching(actor: Actor, filter: ConversationFilter): { text: string; parameters: unknown[] } {
  const text = `FROM conversations c JOIN inboxes i ON i.account_id = c.account_id AND i.id = c.inbox_id
    WHERE c.account_id = $1 AND ${visibleConversations(actor)}
      AND ($3::text IS NULL OR c.status = $3)
      AND ($4::text[] IS NULL OR EXISTS (SELECT FROM conversation_labels cl
        JOIN labels l ON l.account_id = cl.account_id AND l.id = cl.label_id
        WHERE cl.account_id = c.account_id AND cl.conversation_id = c.id AND l.title = ANY ($4)))`;
  return { text, parameters: [actor.id, filter.status, filter.labels] };
}

async function count(executor: Executor, accountId: number, actor: Actor, filter: ConversationFilter) {
  const { text, parameters } = matching(actor, filter);
  const [row] = await sql<ConversationCounts>(
    executor,
    `SELECT count(*) AS "all", count(*) FILTER (WHERE ${actor.kind === 'user' ? assigneeConditions.me : 'false'}) AS mine,
       count(*) FILTER (WHERE c.assignee_id IS NULL) AS unassigned, count(c.assignee_id) AS assigned ${text}`,
    [accountId, ...parameters],
  );
  return row ?? { all: 0, mine: 0, unassigned: 0, assigned: 0 };
}

/** One page of the conversations that the actor may see and the filter lets through, with the counts of them all. */
export async function listConversations(
  executor: Executor,
  accountId: number,
  actor: Actor,
  filter: ConversationFilter,
): Promise<{ counts: ConversationCounts; conversations: Conversation[] }> {
  const { text, parameters } = matching(actor, filter);
  const direction = filter.ascending ? 'ASC' : 'DESC';
  const assignee = filter.assigneeType === 'me' && actor.kind !== 'user' ? 'false' : assigneeConditions[filter.assigneeType];
  const rows = await sql<{ id: number }>(
    executor,
    `SELECT c.id ${text} AND ${assignee} ORDER BY c.${filter.sort} ${direction}, c.id ${direction} LIMIT $5 OFFSET $6`,
    [accountId, ...parameters, conversationsPerPage, (filter.page - 1) * conversationsPerPage],
  );
  const ids = rows.map(({ id }) => id);
  const conversations = await findConversations(executor, accountId, ids);
  return { counts: await count(executor, accountId, actor, filter), conversations };
}
