import type { Sql } from '../../postgres/sql.ts';
import type { AgentBot } from '../../records/bots/agent-bot.ts';

/** An event of an account, with its body as JSON text. */
export interface HeardEvent {
  id: number;
  name: string;
  conversationId: number | null;
  depth: number;
  body: string;
}

interface Row {
  id: number;
  name: string;
  conversation_id: number | null;
  depth: number;
  body: string;
}

/** Newest events of an account among which those of an automation are looked for. */
const maxSearched = 10_000;

/** Returns the latest events that the automation would have heard, had it been on, oldest first. It does not hear its own changes. */
export async function findHeardEvents(
  sql: Sql,
  accountId: number,
  { id, events, inboxIds = null, hearsNotes }: Pick<AgentBot, 'id' | 'events' | 'inboxIds' | 'hearsNotes'>,
  limit: number,
): Promise<HeardEvent[]> {
  const rows = await sql<Row>(
    `SELECT id, name, conversation_id, depth, account_payload::text AS body FROM (
       SELECT * FROM events WHERE account_id = $1 ORDER BY id DESC LIMIT ${maxSearched}) e
     WHERE account_payload IS NOT NULL AND NOT is_test AND name = ANY ($2::text[])
       AND NOT (coalesce(account_payload #>> '{actor,type}', '') = 'automation' AND account_payload #>> '{actor,id}' = $6)
       AND ($3::bigint[] IS NULL OR inbox_id = ANY ($3)) AND ($4 OR (facts ->> 'private') IS DISTINCT FROM 'true')
     ORDER BY id DESC LIMIT $5`,
    [accountId, events, inboxIds, hearsNotes, limit, String(id)],
  );
  return rows.toReversed().map(({ conversation_id: conversationId, ...event }) => ({ ...event, conversationId }));
}
