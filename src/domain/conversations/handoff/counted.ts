import type { Transaction } from '../../../events/transaction.ts';

const statement = `
  INSERT INTO bot_usage AS u (account_id, agent_bot_id, date, runs, prompt_tokens, completion_tokens, handoffs)
  VALUES ($1, $2, ($3::timestamptz AT TIME ZONE 'UTC')::date, 0, 0, 0, 1)
  ON CONFLICT (account_id, agent_bot_id, date) DO UPDATE SET handoffs = u.handoffs + 1`;

/** Counts a handoff in the usage of the acting bot, for handoffs that no record of a run counts. */
export function countHandoff(tx: Transaction): void {
  tx.atCommit({ text: statement, parameters: [tx.account.id, tx.actor.id, tx.now] });
}
