import { Migration } from '@mikro-orm/migrations';

/**
 * Lets a bot rest that fails again and again: how many of its runs failed running, and since when, until when and why it
 * is not called; without an end it waits for somebody to release it. `failed_account_id` is where a system bot failed
 * last.
 */
export class BotQuarantine extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE agent_bots ADD failed_runs integer NOT NULL DEFAULT 0, ADD failed_account_id bigint,
        ADD quarantines integer NOT NULL DEFAULT 0, ADD quarantined_at timestamptz, ADD quarantined_until timestamptz,
        ADD quarantine_reason text`);
  }
}
