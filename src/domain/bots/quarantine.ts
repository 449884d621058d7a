import { readOne } from '../small-rows.ts';
import { AgentBot } from '../../records/bots/agent-bot.ts';
import type { OuterTransaction, Transaction } from '../../events/transaction.ts';
import { prepared } from '../../postgres/prepared.ts';
import { momentOrNull } from '../../postgres/sql.ts';
import { lockOwnBot } from './bots.ts';

/** Failed runs in a row, in any conversations, after which a bot comes into quarantine. */
const toleratedFailures = 5;
/** Seconds of the first, second and third quarantine; a fourth lasts until somebody releases the bot. */
const quarantineSeconds = [5 * 60, 30 * 60, 4 * 3600];

/** A new quarantine; `until` is null when it lasts until somebody releases the bot. */
export interface Quarantine {
  until: Date | null;
}

// Runs that a quarantine finds in progress count when they fail, but do not prolong it; after it, the next failure begins a
// longer one. Of a system bot, consecutive failures in one account count once: one account alone must not take the bot from
// the others.
const countStatement = prepared(`
  WITH counted AS (
    SELECT id, failed_runs + 1 AS failed_runs, failed_runs + 1 >= $3 AND NOT coalesce(
      quarantined_at IS NOT NULL AND (quarantined_until IS NULL OR quarantined_until > now()), false) AS begins
    FROM agent_bots WHERE id = $1 AND (account_id IS NOT NULL OR failed_account_id IS DISTINCT FROM $2)
    FOR NO KEY UPDATE
  ), written AS (
    UPDATE agent_bots b SET failed_runs = c.failed_runs, failed_account_id = $2,
      quarantines = CASE WHEN c.begins THEN b.quarantines + 1 ELSE b.quarantines END,
      quarantined_at = CASE WHEN c.begins THEN now() ELSE b.quarantined_at END,
      quarantined_until = CASE WHEN c.begins THEN now() + make_interval(secs => ($4::float8[])[b.quarantines + 1])
        ELSE b.quarantined_until END,
      quarantine_reason = CASE WHEN c.begins THEN $5 ELSE b.quarantine_reason END
    FROM counted c WHERE b.id = c.id RETURNING c.begins, b.quarantined_until
  )
  SELECT quarantined_until FROM written WHERE begins`);

/**
 * Counts a failed run of a plugin bot; `reason` is the outcome of the run. Returns the quarantine that begins with this
 * failure, or null.
 */
export async function countFailedRun(tx: Transaction, botId: number, reason: string): Promise<Quarantine | null> {
  const [begun] = await tx.sql<{ quarantined_until: string | null }>(countStatement, [
    botId,
    tx.account.id,
    toleratedFailures,
    quarantineSeconds,
    reason,
  ]);
  return begun ? { until: momentOrNull(begun.quarantined_until) } : null;
}

/** SQL that resets the count of a bot's failures and ends its quarantine; `botId` is its parameter. */
export function forgetFailures(botId: string): string {
  return `UPDATE agent_bots SET failed_runs = 0, failed_account_id = NULL, quarantines = 0, quarantined_at = NULL,
    quarantined_until = NULL, quarantine_reason = NULL WHERE id = ${botId} AND failed_runs > 0`;
}

/** Ends the quarantine of a bot of the account; without an account of a system bot. Errors: 404, 403 for a system bot. */
export async function releaseBot(tx: OuterTransaction, id: number): Promise<AgentBot> {
  const bot = await lockOwnBot(tx.sql, tx.accountId, id);
  await tx.sql(forgetFailures('$1'), [id]);
  return readOne(tx.sql, AgentBot, { id: bot.id });
}
