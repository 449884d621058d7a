import type { Sql } from '../../postgres/sql.ts';

/** An event that a bot is still to handle. */
interface Awaited {
  accountId: number;
  eventId: number;
}

/**
 * Which of the events have a live delivery to a bot that has not ended, by the event's id; true where the bot is being
 * called at this moment, for this event or for one before it.
 */
export async function findBotsAtWork(sql: Sql, awaited: readonly Awaited[]): Promise<ReadonlyMap<number, boolean>> {
  if (awaited.length === 0) return new Map();
  const rows = await sql<{ event_id: number; is_called: boolean }>(
    `SELECT d.event_id, bool_or(l.lease_token IS NOT NULL AND l.due_at > now()) AS is_called
     FROM unnest($1::bigint[], $2::bigint[]) AS asked (account_id, event_id)
     JOIN deliveries d ON d.account_id = asked.account_id AND d.event_id = asked.event_id
       AND d.endpoint_kind = 'bot' AND d.copy = 0 AND d.state = 'pending'
     JOIN lanes l ON l.account_id = d.account_id AND l.id = d.lane_id
     GROUP BY d.event_id`,
    [awaited.map(({ accountId }) => accountId), awaited.map(({ eventId }) => eventId)],
  );
  return new Map(rows.map((row) => [row.event_id, row.is_called]));
}

/** The event of the conversation's newest message that its bot is still to handle; null when there is none. */
export async function findAwaitedMessage(sql: Sql, accountId: number, conversationId: number): Promise<number | null> {
  const [row] = await sql<{ event_id: number }>(
    `SELECT d.event_id FROM lanes l
     JOIN deliveries d ON d.account_id = l.account_id AND d.lane_id = l.id AND d.state = 'pending'
     JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id AND e.name = 'message_created'
     WHERE l.account_id = $1 AND l.subject_kind = 'conversation' AND l.subject_id = $2 AND l.endpoint_kind = 'bot'
       AND l.side = 0 AND e.bot_payload ->> 'message_type' = 'incoming'
     ORDER BY d.event_id DESC LIMIT 1`,
    [accountId, conversationId],
  );
  return row?.event_id ?? null;
}
