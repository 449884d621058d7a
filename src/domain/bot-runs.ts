import type { Transaction } from '../events/transaction.ts';
import { sql } from '../lib/sql.ts';

/** All that a run had, did and said: enough to run it again. */
export interface BotRun {
  botId: number;
  conversationId: number;
  eventId: number;
  /** Which attempt to deliver the event it was. */
  attempt: number;
  pluginId: string;
  pluginVersion: string;
  bundleHash: string;
  config: Record<string, unknown>;
  seed: number;
  clock: Date;
  outcome: string;
  actions: readonly unknown[];
  logs: readonly unknown[];
  error: string | null;
  wallMs: number;
}

/** Keeps the record of a run beside its effects. */
export async function recordRun(tx: Transaction, run: BotRun): Promise<void> {
  await sql(
    tx.em,
    `INSERT INTO bot_runs (account_id, agent_bot_id, conversation_id, event_id, attempt, plugin_id, plugin_version,
       bundle_hash, config, seed, clock, outcome, actions, logs, error, wall_ms, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [
      tx.account.id,
      run.botId,
      run.conversationId,
      run.eventId,
      run.attempt,
      run.pluginId,
      run.pluginVersion,
      run.bundleHash,
      JSON.stringify(run.config),
      run.seed,
      run.clock,
      run.outcome,
      JSON.stringify(run.actions),
      JSON.stringify(run.logs),
      run.error,
      Math.round(run.wallMs),
      tx.now,
    ],
  );
}
