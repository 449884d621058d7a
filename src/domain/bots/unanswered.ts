import type { Sql } from '../../postgres/sql.ts';

/** A question that a bot had no answer to, as it was asked last. */
export interface Unanswered {
  question: string;
  count: number;
  lastAskedAt: Date;
  /** The latest conversations in which it was asked, at most ten. */
  conversationIds: number[];
}

/** Runs of a bot that are looked at, the newest, and questions that are returned. */
const [runsAtMost, questionsAtMost] = [5_000, 100];
const conversationsAtMost = 10;
const questionChars = 500;

interface Row {
  conversation_id: number;
  question: string;
  created_at: Date | string;
}

// Runs of erased messages have no actions any more.
const statement = `
  SELECT r.conversation_id, r.created_at, left(e.bot_payload->>'content', ${questionChars}) AS question
  FROM (
    SELECT conversation_id, event_id, created_at, actions FROM bot_runs
    WHERE agent_bot_id = $2 AND account_id = $1 AND created_at >= $3 AND created_at < $4 AND handed_off
    ORDER BY created_at DESC, id DESC LIMIT ${runsAtMost}
  ) r JOIN events e ON e.account_id = $1 AND e.id = r.event_id
  WHERE e.name = 'message_created' AND coalesce(e.bot_payload->>'content', '') <> ''
    AND EXISTS (SELECT FROM json_array_elements(r.actions) action WHERE action->>'cause' = 'no_answer')
  ORDER BY r.created_at DESC`;

/**
 * Returns what customers asked a bot in an account between two moments that no article answered, the most frequent first: of the
 * latest 5,000 handoffs, at most a hundred questions. Questions with the same words are one.
 */
export async function listUnanswered(
  sql: Sql,
  { accountId, botId }: { accountId: number; botId: number },
  { from, before }: { from: Date; before: Date },
): Promise<Unanswered[]> {
  const rows = await sql<Row>(statement, [accountId, botId, from, before]);
  const groups = [...Map.groupBy(rows, ({ question }) => wordsOf(question)).values()];
  return groups
    .map(questionOf)
    .toSorted((one, other) => other.count - one.count || other.lastAskedAt.getTime() - one.lastAskedAt.getTime())
    .slice(0, questionsAtMost);
}

function questionOf(rows: readonly Row[]): Unanswered {
  const ids = new Set(rows.map(({ conversation_id: id }) => id));
  return {
    question: rows[0]?.question ?? '',
    count: rows.length,
    lastAskedAt: new Date(rows[0]?.created_at ?? 0),
    conversationIds: [...ids].slice(0, conversationsAtMost),
  };
}

// “Do you sell lamps?” and “do you sell lamps” are one question.
function wordsOf(question: string): string {
  return (
    question
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.join(' ') ?? ''
  );
}
