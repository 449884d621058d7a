import { findListedConversations, type ListedConversation } from '../../../records/conversations/rows.ts';
import { findExcerptsById, type Message } from '../../../records/messages/message.ts';
import { countedConversations } from '../../../records/conversations/counts.ts';
import type { Actor } from '../../../events/transaction.ts';
import { containing } from '../../../postgres/like.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { seesEverything, visibleConversations } from '../access.ts';

/** A conversation with matching public messages, and excerpts of the newest of those, newest first. */
export interface FoundConversation {
  listed: ListedConversation;
  messages: Message[];
}

/** Conversations on one page of a search. */
export const foundConversationsPerPage = 15;
// Enough to show why a conversation matched.
const messagesShown = 5;

// A sample of the newest messages shows whether a text is common. The trigram index finds a rare text within milliseconds; for a
// common one it would collect all matches before the newest is known, so only the newest messages are searched.
const sampledMessages = 2_000;
const matchesOfCommonText = 10;
const searchedMessages = 15_000;

// Up to this number of visible conversations are searched one by one for a text that is common elsewhere.
const maxSearchedConversations = 5_000;

/** Parts of a search statement: rows that are read beforehand, FROM, and a condition for a restricted actor. */
interface Searched {
  looked: string;
  from: string;
  condition: string;
  /** The account of a message, if not its column. */
  account?: string;
}
type Way = 'every' | 'alone' | 'newest' | 'own';

interface Row {
  count: number;
  looked: number;
  id: number | null;
  /** Numbers as text, which is how the driver returns arrays. */
  message_ids: string[] | null;
}

/**
 * Returns one page of the conversations that the actor may see with a public message that contains the text in any case, newest
 * match first; and their total number. A text that is common in messages that the actor may see is searched for in the
 * account's newest 15,000 messages only, so that the time of a search does not grow with the messages: `isExact` is false then,
 * and `count` counts within these messages.
 */
export async function searchConversations(
  sql: Sql,
  { accountId, actor }: { accountId: number; actor: Actor },
  { text, page }: { text: string; page: number },
): Promise<{ found: FoundConversation[]; count: number; isExact: boolean }> {
  const offset = (page - 1) * foundConversationsPerPage;
  const pattern = containing(text);
  const parameters = [accountId, actor.id, pattern, foundConversationsPerPage, offset];
  const { way, inboxIds } = await chooseWay(sql, actor, [accountId, actor.id, pattern]);
  const own = way === 'own' ? [inboxIds] : [];
  const rows = await sql<Row>(statements[way](actor), [...parameters, ...own]);
  const hits = rows.flatMap(({ id, message_ids: messageIds }) =>
    id === null || !messageIds ? [] : [{ id, messageIds: messageIds.map(Number) }],
  );
  const conversations = await findListedConversations(
    sql,
    accountId,
    hits.map(({ id }) => id),
  );
  const ids = hits.flatMap(({ messageIds }) => messageIds);
  const messages = await findExcerptsById(sql, accountId, { ids, text });
  const byId = new Map(messages.map((message) => [message.id, message]));
  const found = conversations.map((listed) => {
    const shown = hits.find(({ id }) => id === listed.conversation.id)?.messageIds ?? [];
    return { listed, messages: shown.flatMap((id) => byId.get(id) ?? []) };
  });
  const { count = 0, looked = 0 } = rows[0] ?? {};
  return { found, count, isExact: way !== 'newest' || looked < searchedMessages };
}

interface Sample {
  sampled: number;
  /** Matches in the sample: among all messages, and among those that the actor may see. */
  everywhere: number;
  matches: number;
  /** Number of conversations that the actor sees, and their inboxes. */
  seen: number;
  inbox_ids: string[] | null;
  /** Whether all messages of the database are the account's; null without any. */
  is_alone: boolean | null;
}

// The choice depends on visible matches: a text that is common elsewhere must not show in the answer. Other matches only decide
// which statement finds the same answer.
async function chooseWay(
  sql: Sql,
  actor: Actor,
  parameters: readonly unknown[],
): Promise<{ way: Way; inboxIds?: string[] | null }> {
  const visible = visibleConversations(actor);
  const own = seesEverything(actor)
    ? 'SELECT NULL AS seen, NULL AS inbox_ids'
    : `SELECT coalesce(sum(c.total) FILTER (WHERE c.assignee_id IS NULL), 0)::bigint AS seen,
        array_agg(DISTINCT c.inbox_id::text) AS inbox_ids FROM (${countedConversations}) c WHERE ${visible}`;
  const sampling = `
    WITH sample AS MATERIALIZED (${newestMessages(sampledMessages)}), found AS (
      SELECT count(*) AS everywhere, count(*) FILTER (WHERE ${visible}) AS matches
      FROM sample m ${conversationsFor(actor)} WHERE NOT m.private AND m.content ILIKE $3)
    SELECT (SELECT count(*) FROM sample) AS sampled, found.*, own.*,
      (SELECT min(account_id) = $1 AND max(account_id) = $1 FROM messages) AS is_alone FROM found, (${own}) own`;
  const [sample] = await sql<Sample>(sampling, parameters);
  if (sample?.sampled !== sampledMessages) return { way: 'every' };
  if (sample.matches >= matchesOfCommonText) return { way: 'newest' };
  const isOwn = sample.everywhere >= matchesOfCommonText && sample.seen <= maxSearchedConversations;
  if (isOwn) return { way: 'own', inboxIds: sample.inbox_ids };
  return { way: sample.is_alone ? 'alone' : 'every' };
}

// BETWEEN instead of an equation makes the planner use the index on account and id for the order. By ids alone it would step
// over the newer messages of all other accounts first.
function newestMessages(limit: number): string {
  return `SELECT m.id, m.account_id, m.conversation_id, m.created_at, m.private, m.content FROM messages m
      WHERE m.account_id BETWEEN $1 AND $1 ORDER BY m.account_id DESC, m.id DESC LIMIT ${limit}`;
}

// Joins the conversations that the condition of visibleConversations refers to.
function conversationsFor(actor: Actor): string {
  if (seesEverything(actor)) return '';
  return 'JOIN conversations c ON c.account_id = m.account_id AND c.id = m.conversation_id';
}

const visibleMessages = (actor: Actor, from: string): Pick<Searched, 'from' | 'condition'> => ({
  from: `${from} ${conversationsFor(actor)}`,
  condition: visibleConversations(actor),
});

// OFFSET 0 keeps the planner from the trigrams, which would collect all matches of the account.
function ownConversations(actor: Actor): Searched {
  const visible = visibleConversations(actor);
  return {
    looked: `SELECT c.id FROM conversations c WHERE c.account_id = $1 AND c.inbox_id = ANY ($6::bigint[]) AND ${visible}`,
    from: 'looked CROSS JOIN LATERAL (SELECT * FROM messages WHERE account_id = $1 AND conversation_id = looked.id OFFSET 0) m',
    condition: 'true',
  };
}

// The trigram index leads with the account, so that a search reads no other account's matches; but the account's entry lists
// every message of the account, and takes most of the time of a rare text. If all messages are the account's, an addition
// to the column keeps the planner from using it.
const statements: Record<Way, (actor: Actor) => string> = {
  every: (actor) => statement({ looked: 'SELECT LIMIT 0', ...visibleMessages(actor, 'messages m') }),
  alone: (actor) =>
    statement({ looked: 'SELECT LIMIT 0', ...visibleMessages(actor, 'messages m'), account: 'm.account_id + 0' }),
  newest: (actor) => statement({ looked: newestMessages(searchedMessages), ...visibleMessages(actor, 'looked m') }),
  own: (actor) => statement(ownConversations(actor)),
};

// The LEFT JOIN keeps a row with the total when the page is empty.
function statement({ looked, from, condition, account = 'm.account_id' }: Searched): string {
  return `
    WITH looked AS MATERIALIZED (${looked}), found AS MATERIALIZED (
      SELECT m.conversation_id AS id, max(m.created_at) AS matched_at,
        (array_agg(m.id ORDER BY m.created_at DESC, m.id DESC))[1:${messagesShown}] AS message_ids
      FROM ${from}
      WHERE ${account} = $1 AND NOT m.private AND m.content ILIKE $3 AND ${condition}
      GROUP BY m.conversation_id
    )
    SELECT total.count, total.looked, page.id, page.message_ids
    FROM (SELECT count(*) AS count, (SELECT count(*) FROM looked) AS looked FROM found) total
    LEFT JOIN (SELECT * FROM found ORDER BY matched_at DESC, id DESC LIMIT $4 OFFSET $5) page ON true
    ORDER BY page.matched_at DESC, page.id DESC`;
}
