import { seesEverything, visibleConversations } from '../domain/conversations/access.ts';
import type { Actor } from '../events/transaction.ts';
import { moment, type Sql } from '../postgres/sql.ts';

/** An event in its account's feed. Positions count from 1, with gaps where events were deleted. */
export interface FeedEvent {
  position: number;
  id: number;
  name: string;
  conversationId: number | null;
  /** The event's number within its conversation; null for events of contacts. */
  sequence: number | null;
  /** The JSON of the body for account webhooks; null for events that only bots receive. */
  payload: string | null;
  createdAt: Date;
}

/** Which events of the account, behind which position. Without `actor` all of them, whoever may see them. */
export interface PageRequest {
  accountId: number;
  after: number;
  limit: number;
  actor?: Actor;
  types?: readonly string[];
  conversationId?: number;
}

/** A stretch of the feed. */
export interface FeedPage {
  events: FeedEvent[];
  /** The position up to which the stretch goes: there are no further events that were asked for up to there. */
  reached: number;
  kept: Kept;
}

/** How far the account's feed goes, at the moment of a page. */
export interface Kept {
  /** The last position whose event was deleted for its age. */
  dropped: number;
  /** The last position that was given. */
  head: number;
}

interface Row {
  reached: number | null;
  dropped: number | null;
  head: number | null;
  position: number | null;
  id: number;
  name: string;
  conversation_id: number | null;
  sequence: number | null;
  payload: string | null;
  created_at: string;
  found: number | null;
}

/** Positions that one page looks at, at most, for the events that were asked for. */
const scanned = 5_000;
/** Bytes of JSON in a page of more than one event. */
const maxBytes = 4 * 1024 * 1024;

/**
 * The next events in the order of the feed. A page may hold fewer events than the limit, even none, and yet go on behind
 * `reached`: where bodies are large, or many positions were looked at. A reader who continues from there sees every event
 * once, whatever is committed meanwhile.
 */
export async function readPage(sql: Sql, request: PageRequest): Promise<FeedPage> {
  const { after, limit } = request;
  const rows = await sql<Row>(statementFor(request), parametersOf(request));
  const events = rows.filter(isEvent).map(toEvent);
  const { reached, dropped, head, found } = { ...nothing, ...rows[0] };
  const isEnd = (found ?? 0) < limit && (found ?? 0) === events.length;
  const last = events.at(-1)?.position ?? after;
  return { events, reached: isEnd ? (reached ?? after) : last, kept: { dropped: dropped ?? 0, head: head ?? 0 } };
}

/** How far the account's feed goes now. */
export async function readKept(sql: Sql, accountId: number): Promise<Kept> {
  const [kept] = await sql<Kept>('SELECT dropped, position AS head FROM event_feed_heads WHERE account_id = $1', [
    accountId,
  ]);
  return kept ?? { dropped: 0, head: 0 };
}

const nothing = { reached: null, dropped: null, head: null, found: null };

function parametersOf({ accountId, after, limit, actor, types, conversationId }: PageRequest): unknown[] {
  const isWhole = types === undefined && (actor === undefined || seesEverything(actor));
  const looked = isWhole ? limit : scanned;
  return [accountId, actor?.id ?? null, after, looked, limit, types ?? null, conversationId ?? null];
}

const ofAccount = `
  SELECT position, event_id FROM event_feed WHERE account_id = $1 AND position > $3 AND $7::bigint IS NULL
  ORDER BY position LIMIT $4`;
const ofConversation = `
  SELECT f.position, f.event_id FROM events e JOIN event_feed f ON f.account_id = e.account_id AND f.event_id = e.id
  WHERE e.account_id = $1 AND e.conversation_id = $7 AND f.position > $3 ORDER BY e.sequence LIMIT $4`;

function statementFor({ actor, conversationId }: PageRequest): string {
  const seen =
    actor === undefined || seesEverything(actor)
      ? '$2::bigint IS NULL OR true'
      : `EXISTS (SELECT FROM conversations c WHERE c.account_id = $1 AND c.id = e.conversation_id
           AND ${visibleConversations(actor)})`;
  return `
    WITH scanned AS MATERIALIZED (${conversationId === undefined ? ofAccount : ofConversation})
    SELECT bounds.*, page.* FROM (
      SELECT (SELECT max(position) FROM scanned) AS reached, head.dropped, head.position AS head
      FROM (SELECT) one LEFT JOIN event_feed_heads head ON head.account_id = $1
    ) bounds LEFT JOIN (
      SELECT e.position, e.id, e.name, e.conversation_id, e.sequence, e.account_payload::text AS payload, e.created_at,
        count(*) OVER () AS found, row_number() OVER fed AS place,
        sum(octet_length(e.account_payload::text)) OVER fed AS bytes
      FROM (
        SELECT s.position, e.* FROM scanned s JOIN events e ON e.account_id = $1 AND e.id = s.event_id
        WHERE (e.name = ANY ($6) OR $6::text[] IS NULL) AND (${seen})
        ORDER BY s.position LIMIT $5
      ) e WINDOW fed AS (ORDER BY e.position)
    ) page ON page.place = 1 OR page.bytes <= ${maxBytes} ORDER BY page.position`;
}

function isEvent(row: Row): row is Row & { position: number } {
  return row.position !== null;
}

function toEvent({ position, id, name, sequence, payload, ...row }: Row & { position: number }): FeedEvent {
  const { conversation_id: conversationId, created_at: createdAt } = row;
  return { position, id, name, conversationId, sequence, payload, createdAt: moment(createdAt) };
}
