import type { Sql } from '../../postgres/sql.ts';

/** Usage of a bot on one day (UTC, `YYYY-MM-DD`). */
export interface DayOfUsage {
  date: string;
  runs: number;
  prompt_tokens: number;
  completion_tokens: number;
  handoffs: number;
}

// Deleted runs are counted in bot_usage, by a trigger.
const both = `
  SELECT (created_at AT TIME ZONE 'UTC')::date AS date, count(*) AS runs, sum(prompt_tokens) AS prompt_tokens,
    sum(completion_tokens) AS completion_tokens, count(*) FILTER (WHERE handed_off) AS handoffs
  FROM bot_runs WHERE account_id = $1 AND agent_bot_id = $2
    AND created_at >= $3::date::timestamp AT TIME ZONE 'UTC' AND created_at < $4::date::timestamp AT TIME ZONE 'UTC'
  GROUP BY 1
  UNION ALL
  SELECT date, runs, prompt_tokens, completion_tokens, handoffs FROM bot_usage
  WHERE account_id = $1 AND agent_bot_id = $2 AND date >= $3::date AND date < $4::date`;

/** Returns a bot's usage per day in an account, from one day on and before another, oldest first, without idle days. */
export function listUsage(
  sql: Sql,
  { accountId, botId }: { accountId: number; botId: number },
  { from, before }: { from: string; before: string },
): Promise<DayOfUsage[]> {
  return sql<DayOfUsage>(
    `SELECT date::text, sum(runs)::bigint AS runs, sum(prompt_tokens)::bigint AS prompt_tokens,
       sum(completion_tokens)::bigint AS completion_tokens, sum(handoffs)::bigint AS handoffs
     FROM (${both}) days GROUP BY date ORDER BY date`,
    [accountId, botId, from, before],
  );
}

/** Returns the tokens that a bot has used in an account on the day (UTC) of a moment. */
export async function countTokens(
  sql: Sql,
  { accountId, botId }: { accountId: number; botId: number },
  now: Date,
): Promise<number> {
  const [day] = await sql<{ tokens: number }>(
    `SELECT coalesce(sum(tokens), 0)::bigint AS tokens FROM (
       SELECT prompt_tokens + completion_tokens AS tokens FROM bot_runs
       WHERE account_id = $1 AND agent_bot_id = $2 AND created_at >= $3::date::timestamp AT TIME ZONE 'UTC'
         AND prompt_tokens + completion_tokens > 0
       UNION ALL
       SELECT prompt_tokens + completion_tokens FROM bot_usage
       WHERE account_id = $1 AND agent_bot_id = $2 AND date = $3::date) today`,
    [accountId, botId, now.toISOString().slice(0, 10)],
  );
  return day?.tokens ?? 0;
}
