import type { Sql } from '../../postgres/sql.ts';

/** An event that bots could get, the decision about it, and what became of its delivery. */
export interface DecidedRow {
  id: number;
  name: string;
  bot_id: number;
  bot_name: string | null;
  bot_chosen_by: 'conversation' | 'inbox' | null;
  unheard: string | null;
  created_at: string;
  state: 'pending' | 'delivered' | 'exhausted' | 'cancelled' | null;
  attempt: number | null;
  last_error: string | null;
  run_id: number | null;
}

const maxDecisions = 25;
/** Events of the conversation that are looked through. */
const maxEvents = 1000;

// A bot has one live delivery of an event, and its last run is the one that counts.
const statement = `
  SELECT e.id, e.name, e.bot_id, b.name AS bot_name, e.bot_chosen_by, e.bot_silence AS unheard, e.created_at, d.state, d.attempt,
    d.last_error, r.id AS run_id
  FROM events e
  LEFT JOIN agent_bots b ON b.id = e.bot_id
  LEFT JOIN deliveries d ON d.account_id = e.account_id AND d.event_id = e.id AND d.endpoint_kind = 'bot'
    AND d.endpoint_id = e.bot_id AND d.copy = 0
  LEFT JOIN LATERAL (
    SELECT r.id FROM bot_runs r WHERE r.account_id = e.account_id AND r.event_id = e.id ORDER BY r.id DESC LIMIT 1) r ON true
  WHERE e.account_id = $1 AND e.conversation_id = $2 AND e.sequence > $3 AND e.bot_id IS NOT NULL
  ORDER BY e.sequence DESC LIMIT ${maxDecisions}`;

/** The latest of these events of a conversation, newest first. */
export function findDecided(
  sql: Sql,
  accountId: number,
  { conversationId, lastSequence }: { conversationId: number; lastSequence: number },
): Promise<DecidedRow[]> {
  return sql<DecidedRow>(statement, [accountId, conversationId, lastSequence - maxEvents]);
}
