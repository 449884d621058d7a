import type { Transaction } from '../../events/transaction.ts';
import type { Database } from '../../postgres/database.ts';
import { prepared } from '../../postgres/prepared.ts';
import { hashToken } from '../../lib/secrets/tokens.ts';
import { storableTextOrNull } from '../../lib/text/storable.ts';
import { botToRunColumns, toBotToRun, type BotRow, type BotToRun } from '../../records/bots/bot-to-run.ts';

/** A channel whose connection is to be checked. */
export interface DueCheck {
  account: { id: number; name: string };
  bot: BotToRun;
}

/** Hours between two checks of a channel, and minutes after one that found a problem. */
const [usualHours, problemMinutes] = [1, 5];
const maxErrorChars = 500;
/** Channels that one process checks at a time. */
const pageSize = 20;

/** Takes channels whose check is due, each for this process alone. */
export async function takeDueChecks({ sql, clock }: Database): Promise<DueCheck[]> {
  const rows = await sql<BotRow & { account_id: number; account_name: string }>(
    `WITH due AS (
       SELECT id FROM agent_bots WHERE kind = 'channel' AND active AND plugin_obstacle IS NULL AND config_fits AND quarantined_at IS NULL
         AND (checked_at IS NULL OR checked_at <= $1::timestamptz - CASE WHEN check_error IS NULL
           THEN make_interval(hours => ${usualHours}) ELSE make_interval(mins => ${problemMinutes}) END)
       ORDER BY checked_at NULLS FIRST LIMIT ${pageSize} FOR UPDATE SKIP LOCKED)
     UPDATE agent_bots p SET checked_at = $1 FROM due, accounts a WHERE p.id = due.id AND a.id = p.account_id
     RETURNING a.id AS account_id, a.name AS account_name, ${botToRunColumns}`,
    [clock.now()],
  );
  return rows.map((row) => ({ account: { id: row.account_id, name: row.account_name }, bot: toBotToRun(row) }));
}

// Due by its age, so that channels that fail for long leave their turn to others.
const repeatStatement = prepared(`UPDATE agent_bots
  SET checked_at = least(checked_at, $3::timestamptz - interval '${problemMinutes} minutes')
  WHERE account_id = $1 AND id = $2 AND check_error IS NOT NULL AND checked_at IS NOT NULL`);

/** Makes the check of a channel due, with the commit, if the last one found a problem: a request of the other system has arrived. */
export function repeatFailedCheck(tx: Transaction, channelId: number): void {
  tx.atCommit({ text: repeatStatement, parameters: [tx.account.id, channelId, tx.now] });
}

/** Stores what a check of a channel has found; null when all is well. */
export async function keepCheck({ sql }: Database, { account, bot }: DueCheck, error: string | null): Promise<void> {
  await sql(
    `UPDATE agent_bots SET check_error = $3 WHERE account_id = $1 AND id = $2 AND check_error IS DISTINCT FROM $3`,
    [account.id, bot.id, storableTextOrNull(error, maxErrorChars)],
  );
}

/** Returns why requests of the other system, which it sends to `url`, do not arrive at a hook of the channel; null when they do. */
export async function whyMissed(
  { sql, clock }: Database,
  { account, bot }: DueCheck,
  url: string | null,
): Promise<string | null> {
  if (url === null) return 'No webhook is set in the other system: messages of customers do not arrive';
  const read = URL.parse(url);
  const token = read?.pathname.split('/').at(-1) ?? '';
  const [ours] = await sql(
    `SELECT FROM hook_tokens t JOIN hooks h ON h.account_id = t.account_id AND h.id = t.hook_id
     WHERE t.token_hash = $3 AND h.account_id = $1 AND h.agent_bot_id = $2 AND (t.expires_at IS NULL OR t.expires_at > $4)`,
    [account.id, bot.id, hashToken(token), clock.now()],
  );
  return ours ? null : `Another system has set its webhook (${read?.host ?? 'no URL'}): messages of customers go there`;
}
