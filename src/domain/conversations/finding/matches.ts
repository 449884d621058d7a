import { countedConversations } from '../../../records/conversations/counts.ts';
import type { ConversationStatus } from '../../../records/conversations/conversation.ts';
import { notFound } from '../../../errors.ts';
import type { Actor } from '../../../events/transaction.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { seesEverything } from '../access.ts';
import { isMine, matching, ofKind, parametersOf, type ConversationFilter } from './filter.ts';

/** Numbers of matching conversations, by assignee. */
export interface ConversationCounts {
  all: number;
  mine: number;
  unassigned: number;
  assigned: number;
}

/** Numbers of matching conversations of a status, and their inboxes; null where those do not narrow the search. */
export interface StatusCounts extends ConversationCounts {
  status: ConversationStatus;
  inboxIds: readonly string[] | null;
}

interface Row {
  /** Null without matches. */
  status: ConversationStatus | null;
  all: number;
  mine: number;
  assigned: number;
  inbox_ids: string[] | null;
  inbox_is_there: boolean;
  team_is_there: boolean;
}

/** Counts the matching conversations by status. Errors: 404 for an inbox or a team that the account does not have. */
export async function countMatches(
  sql: Sql,
  { accountId, actor }: { accountId: number; actor: Actor },
  filter: ConversationFilter,
): Promise<StatusCounts[]> {
  const rows = await sql<Row>(
    `SELECT counts.*, $6::bigint IS NULL OR EXISTS (SELECT FROM inboxes WHERE account_id = $1 AND id = $6) AS inbox_is_there,
       $7::bigint IS NULL OR EXISTS (SELECT FROM teams WHERE account_id = $1 AND id = $7) AS team_is_there
     FROM (VALUES (1)) one LEFT JOIN (${countStatement(actor, filter)}) counts ON true`,
    parametersOf(accountId, actor, filter),
  );
  if (!rows[0]?.inbox_is_there) throw notFound('Inbox');
  if (!rows[0].team_is_there) throw notFound('Team');
  return rows.flatMap(({ status, all, mine, assigned, inbox_ids: inboxIds }) =>
    status === null ? [] : [{ status, all, mine, unassigned: all - assigned, assigned, inboxIds }],
  );
}

function countStatement(actor: Actor, filter: ConversationFilter): string {
  if (!isCounted(actor, filter)) {
    return `SELECT c.status, count(*) AS "all", count(*) FILTER (WHERE ${isMine(actor)}) AS mine,
      count(c.assignee_id) AS assigned, NULL::text[] AS inbox_ids ${matching(actor, filter)} GROUP BY c.status`;
  }
  const total = (which: string): string => `coalesce(sum(${which}), 0)::bigint`;
  return `SELECT c.status, ${total('c.total) FILTER (WHERE c.assignee_id IS NULL')} AS "all",
    ${total(`c.total) FILTER (WHERE ${isMine(actor)}`)} AS mine,
    ${total('c.assigned) FILTER (WHERE c.assignee_id IS NULL')} AS assigned,
    ${seesEverything(actor) ? 'NULL::text[]' : 'array_agg(DISTINCT c.inbox_id::text)'} AS inbox_ids
    FROM (${countedConversations}) c WHERE ${ofKind(actor)}
      AND $4::text[] IS NULL AND $5::bigint IS NULL AND $8::text IS NULL GROUP BY c.status`;
}

// Rows of counts do not distinguish labels, contacts and texts.
function isCounted(actor: Actor, { labels, contactId, text }: ConversationFilter): boolean {
  return actor.kind !== 'contact' && labels === null && contactId === null && text === null;
}
