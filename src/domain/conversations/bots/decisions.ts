import { findDecided, type DecidedRow } from '../../../deliveries/log/decisions.ts';
import { moment, type Sql } from '../../../postgres/sql.ts';
import type { Conversation, Named } from '../../../records/conversations/conversation.ts';

/** Decision about one event, and its result. */
export interface BotDecisionRecord {
  event: { id: number; name: string };
  /** The bot that served the conversation; null when it is deleted. */
  bot: Named | null;
  chosenBy: 'conversation' | 'inbox' | null;
  /** Whether the bot was called. */
  called: boolean;
  /** Reason why the bot did not get the event, or did nothing; null when it did its part. `waiting`: its call is pending. */
  reason: string | null;
  /** The last run, of a bot inside the service. */
  runId: number | null;
  createdAt: Date;
}

/** Returns the latest decisions about the conversation's bot, newest first. */
export async function listDecisions(
  sql: Sql,
  { id, account, eventSequence }: Conversation,
): Promise<BotDecisionRecord[]> {
  const rows = await findDecided(sql, account.id, { conversationId: id, lastSequence: eventSequence });
  return rows.map((row) => ({
    event: { id: row.id, name: row.name },
    bot: row.bot_name === null ? null : { id: row.bot_id, name: row.bot_name },
    chosenBy: row.bot_chosen_by,
    ...explain(row),
    runId: row.run_id,
    createdAt: moment(row.created_at),
  }));
}

const reasonsByState = {
  pending: () => 'waiting',
  delivered: (error: string | null) => error,
  exhausted: (error: string | null) => error ?? 'failed',
  cancelled: (error: string | null) => error ?? 'cancelled',
};

function explain({ unheard, state, attempt, last_error: error }: DecidedRow): {
  called: boolean;
  reason: string | null;
} {
  if (unheard !== null) return { called: false, reason: unheard };
  if (state === null) return { called: false, reason: 'endpoint_gone' };
  return { called: state !== 'cancelled' && (attempt ?? 0) > 0, reason: reasonsByState[state](error) };
}
