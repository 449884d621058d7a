import type { Transaction } from '../../../events/transaction.ts';
import type { Shape } from '../../../schemas.ts';
import { moment, type Sql } from '../../../postgres/sql.ts';

type EvalResults = Shape<'resources/bot-evals'>['results'];

interface TokenCount {
  promptTokens: number;
  completionTokens: number;
}

interface Whose {
  accountId: number;
  botId: number;
}

/** Returns the last results of a bot in an account; null before the first. */
export async function readLastEvals(
  sql: Sql,
  { accountId, botId }: Whose,
): Promise<{ ranAt: Date; results: EvalResults } | null> {
  const [row] = await sql<{ ran_at: string; results: EvalResults }>(
    'SELECT ran_at, results FROM bot_evals WHERE account_id = $1 AND agent_bot_id = $2',
    [accountId, botId],
  );
  return row ? { ranAt: moment(row.ran_at), results: row.results } : null;
}

/** Replaces the last results of a bot. */
export async function keepEvals(tx: Transaction, { accountId, botId }: Whose, results: EvalResults): Promise<void> {
  await tx.sql(
    `INSERT INTO bot_evals (account_id, agent_bot_id, ran_at, results) VALUES ($1, $2, $3, $4::json)
     ON CONFLICT (account_id, agent_bot_id) DO UPDATE SET ran_at = excluded.ran_at, results = excluded.results`,
    [accountId, botId, tx.now, JSON.stringify(results)],
  );
}

/** Counts the tokens of a trial, which no record of a run counts, in the usage of the bot. */
export async function countTrial(
  tx: Transaction,
  { accountId, botId }: Whose,
  { promptTokens, completionTokens }: TokenCount,
): Promise<void> {
  if (promptTokens + completionTokens === 0) return;
  await tx.sql(
    `INSERT INTO bot_usage AS u (account_id, agent_bot_id, date, runs, prompt_tokens, completion_tokens, handoffs)
     VALUES ($1, $2, ($3::timestamptz AT TIME ZONE 'UTC')::date, 0, $4, $5, 0)
     ON CONFLICT (account_id, agent_bot_id, date) DO UPDATE SET prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
       completion_tokens = u.completion_tokens + excluded.completion_tokens`,
    [accountId, botId, tx.now, promptTokens, completionTokens],
  );
}
