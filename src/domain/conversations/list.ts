import { findConversations } from '../../records/conversation-rows.ts';
import type { Conversation, ConversationStatus } from '../../records/conversation.ts';
import { notFound } from '../../errors.ts';
import type { Actor } from '../../events/transaction.ts';
import { containing } from '../../postgres/like.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import { visibleConversations } from './access.ts';

export interface ConversationFilter {
  status: ConversationStatus | null;
  assigneeType: 'me' | 'unassigned' | 'all' | 'assigned';
  /** Titles; a conversation with any of them matches. */
  labels: readonly string[] | null;
  /** Conversations of this contact only; null for all. */
  contactId: number | null;
  inboxId: number | null;
  teamId: number | null;
  /** Text in a public message, or in the contact's name, e-mail address or phone number, in any case. */
  text: string | null;
  sort: 'created_at' | 'updated_at' | 'last_activity_at';
  ascending: boolean;
  page: number;
}

/** Numbers of matching conversations, by assignee. */
interface ConversationCounts {
  all: number;
  mine: number;
  unassigned: number;
  assigned: number;
}

/** A page of conversations; `count` is their number on all pages, `counts` their numbers by assignee type. */
export interface ConversationPage {
  conversations: Conversation[];
  count: number;
  counts: ConversationCounts;
}

/** Conversations on one page of the list. */
export const conversationsPerPage = 25;

// Written as the trigram indexes of messages and contacts are, so that both are used.
const conversationsWithText = `
  SELECT m.conversation_id FROM messages m WHERE m.account_id = $1 AND NOT m.private AND m.content ILIKE $8
  UNION SELECT o.id FROM contacts k JOIN conversations o ON o.account_id = k.account_id AND o.contact_id = k.id
  WHERE k.account_id = $1
    AND lower(k.name || ' ' || coalesce(k.email, '') || ' ' || coalesce(k.phone_number, '')) LIKE lower($8)`;

/**
 * One page of the conversations that the actor may see and the filter lets through, with the counts of them all.
 * Errors: 404 for an inbox or a team that the account does not have.
 */
export async function listConversations(
  executor: Executor,
  accountId: number,
  actor: Actor,
  filter: ConversationFilter,
): Promise<ConversationPage> {
  await checkFilter(executor, accountId, filter);
  const counts = await count(executor, accountId, actor, filter);
  const { all, mine, unassigned, assigned } = counts;
  const matches = { all, me: mine, unassigned, assigned }[filter.assigneeType];
  const ids = await findPage(executor, { accountId, actor, count: matches }, filter);
  return { conversations: await findConversations(executor, accountId, ids), count: matches, counts };
}

async function count(executor: Executor, accountId: number, actor: Actor, filter: ConversationFilter) {
  const { text, parameters } = matching(actor, filter);
  const [row] = await sql<ConversationCounts>(
    executor,
    `SELECT count(*) AS "all", count(*) FILTER (WHERE ${assigneeCondition(actor, 'me')}) AS mine,
       count(*) FILTER (WHERE c.assignee_id IS NULL) AS unassigned, count(c.assignee_id) AS assigned ${text}`,
    [accountId, ...parameters],
  );
  return row ?? { all: 0, mine: 0, unassigned: 0, assigned: 0 };
}

function assigneeCondition(actor: Actor, type: ConversationFilter['assigneeType']): string {
  if (type === 'all') return 'true';
  if (type === 'me') return actor.kind === 'user' ? 'c.assignee_id = $2' : 'false';
  return type === 'assigned' ? 'c.assignee_id IS NOT NULL' : 'c.assignee_id IS NULL';
}

function matching(actor: Actor, filter: ConversationFilter): { text: string; parameters: unknown[] } {
  const { status, labels, contactId, inboxId, teamId, text: wanted } = filter;
  const text = `FROM conversations c WHERE c.account_id = $1 AND ${visibleConversations(actor)}
      AND ($3::text IS NULL OR c.status = $3) AND ($5::bigint IS NULL OR c.contact_id = $5)
      AND ($6::bigint IS NULL OR c.inbox_id = $6) AND ($7::bigint IS NULL OR c.team_id = $7)
      AND ($4::text[] IS NULL OR EXISTS (SELECT FROM conversation_labels cl
        JOIN labels l ON l.account_id = cl.account_id AND l.id = cl.label_id
        WHERE cl.account_id = c.account_id AND cl.conversation_id = c.id AND l.title = ANY ($4)))
      AND ${wanted === null ? '$8::text IS NULL' : `c.id IN (${conversationsWithText})`}`;
  const containingText = wanted === null ? null : containing(wanted);
  return { text, parameters: [actor.id, status, labels, contactId, inboxId, teamId, containingText] };
}

// Skips the pages before this one from the nearer end of the list, within an index that covers the filter: at most half of
// the entries just counted.
async function findPage(
  executor: Executor,
  { accountId, actor, count: all }: { accountId: number; actor: Actor; count: number },
  filter: ConversationFilter,
): Promise<number[]> {
  const before = (filter.page - 1) * conversationsPerPage;
  const size = Math.min(conversationsPerPage, all - before);
  if (size <= 0) return [];
  const after = all - before - size;
  const fromEnd = after < before;
  const direction = filter.ascending === fromEnd ? 'DESC' : 'ASC';
  const { text, parameters } = matching(actor, filter);
  const rows = await sql<{ id: number }>(
    executor,
    `SELECT c.id ${text} AND ${assigneeCondition(actor, filter.assigneeType)}
     ORDER BY c.${filter.sort} ${direction}, c.id ${direction} LIMIT $9 OFFSET $10`,
    [accountId, ...parameters, size, fromEnd ? after : before],
  );
  const ids = rows.map(({ id }) => id);
  return fromEnd ? ids.toReversed() : ids;
}

async function checkFilter(executor: Executor, accountId: number, { inboxId, teamId }: ConversationFilter) {
  if (inboxId === null && teamId === null) return;
  const [found] = await sql<{ inbox: boolean; team: boolean }>(
    executor,
    `SELECT $2::bigint IS NULL OR EXISTS (SELECT FROM inboxes WHERE account_id = $1 AND id = $2) AS inbox,
       $3::bigint IS NULL OR EXISTS (SELECT FROM teams WHERE account_id = $1 AND id = $3) AS team`,
    [accountId, inboxId, teamId],
  );
  if (!found?.inbox) throw notFound('Inbox');
  if (!found.team) throw notFound('Team');
}
