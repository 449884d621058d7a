import { findListedConversations, type ListedConversation } from '../../../records/conversations/rows.ts';
import type { ConversationStatus } from '../../../records/conversations/conversation.ts';
import type { Actor } from '../../../events/transaction.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { countMatches, type ConversationCounts } from './matches.ts';
import { assigneeCondition, matching, parametersOf, type ConversationFilter } from './filter.ts';

/** A page of conversations; `count` is their number on all pages, `counts` their numbers by assignee type. */
export interface ConversationPage {
  conversations: ListedConversation[];
  count: number;
  counts: ConversationCounts;
}

/** Conversations on one page of the list. */
export const conversationsPerPage = 25;

const countOf = { all: 'all', me: 'mine', unassigned: 'unassigned', assigned: 'assigned' } as const;

/**
 * Returns one page of the conversations that the actor may see and that match the filter, with their counts.
 * Errors: 404 for an inbox or a team that the account does not have.
 */
export async function listConversations(
  sql: Sql,
  accountId: number,
  actor: Actor,
  filter: ConversationFilter,
): Promise<ConversationPage> {
  const counted = await countMatches(sql, { accountId, actor }, filter);
  const wanted = countOf[filter.assigneeType];
  const stretches = counted
    .map(({ status, inboxIds, [wanted]: matches }): Stretch => ({ status, inboxIds, count: matches }))
    .filter((stretch) => stretch.count > 0);
  const conversations = await findPage(sql, { accountId, actor, stretches }, filter);
  const counts = sumOf(counted);
  return { conversations, count: counts[wanted], counts };
}

/**
 * Counts the conversations that the actor may see and that match the filter, whatever their assignee. Errors: 404 for an inbox
 * or a team that the account does not have.
 */
export async function countConversations(
  sql: Sql,
  accountId: number,
  actor: Actor,
  filter: ConversationFilter,
): Promise<ConversationCounts> {
  return sumOf(await countMatches(sql, { accountId, actor }, filter));
}

function sumOf(counted: readonly ConversationCounts[]): ConversationCounts {
  const sum = (of: keyof ConversationCounts): number => counted.reduce((total, one) => total + one[of], 0);
  return { all: sum('all'), mine: sum('mine'), unassigned: sum('unassigned'), assigned: sum('assigned') };
}

/** The matches of one status: their number, and their inboxes. */
interface Stretch {
  status: ConversationStatus;
  count: number;
  inboxIds: readonly string[] | null;
}

// Skips the other pages from the nearer end of the list: at most half of the conversations just counted.
async function findPage(
  sql: Sql,
  { accountId, actor, stretches }: { accountId: number; actor: Actor; stretches: readonly Stretch[] },
  filter: ConversationFilter,
): Promise<ListedConversation[]> {
  const all = stretches.reduce((sum, stretch) => sum + stretch.count, 0);
  const before = (filter.page - 1) * conversationsPerPage;
  const size = Math.min(conversationsPerPage, all - before);
  if (size <= 0) return [];
  const after = all - before - size;
  const fromEnd = after < before;
  const direction = filter.ascending === fromEnd ? 'DESC' : 'ASC';
  const position = [size, fromEnd ? after : before, inboxesOf(stretches)];
  const found = await sql<{ id: number }>(pageStatement({ actor, stretches }, filter, direction), [
    ...parametersOf(accountId, actor, filter),
    ...position,
  ]);
  const ids = found.map(({ id }) => id);
  return findListedConversations(sql, accountId, fromEnd ? ids.toReversed() : ids);
}

// Sorting this many takes less time than finding them along the index of a long list.
const few = 2000;

// Matches by text or contact are few, and sorted. All others are read in the order of an index (one per status), unless
// they are few.
function pageStatement(
  { actor, stretches }: { actor: Actor; stretches: readonly Stretch[] },
  filter: ConversationFilter,
  direction: 'ASC' | 'DESC',
): string {
  const order = `ORDER BY c.${filter.sort} ${direction}, c.id ${direction} LIMIT $9::bigint + $10::bigint`;
  const matches = `SELECT c.id, c.${filter.sort} AS place ${matching(actor, filter)}
    AND ${assigneeCondition(actor, filter.assigneeType)} AND ($11::bigint[] IS NULL OR c.inbox_id = ANY ($11))`;
  const isFound = filter.contactId !== null || filter.text !== null;
  const parts = isFound
    ? [matches]
    : stretches.map((one) => `(${matches} AND c.status = '${one.status}' ${one.count > few ? order : ''})`);
  return `SELECT c.id FROM (${parts.join(' UNION ALL ')}) c
    ORDER BY c.place ${direction}, c.id ${direction} LIMIT $9 OFFSET $10`;
}

function inboxesOf(stretches: readonly Stretch[]): string[] | null {
  const known = stretches.map(({ inboxIds }) => inboxIds);
  return known.includes(null) ? null : [...new Set(known.flatMap((inboxIds) => inboxIds ?? []))];
}
