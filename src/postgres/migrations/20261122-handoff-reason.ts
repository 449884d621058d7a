import { Migration } from '@mikro-orm/migrations';

/** Why people got a conversation from its bot. Of conversations that bots gave away before, what is known of it is kept. */
export class HandoffReason extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE conversations ADD handoff_reason text CONSTRAINT conversations_handoff_reason CHECK (handoff_reason IN (
        'keyword', 'max_exchanges', 'requested_by_model', 'plugin', 'model_failed', 'no_answer', 'budget',
        'bot_unreachable', 'loop'));
      UPDATE conversations SET handoff_reason = CASE bot_silence WHEN 'handed_off' THEN 'plugin'
        WHEN 'loop_suspected' THEN 'loop' ELSE 'bot_unreachable' END
      WHERE bot_silence IS NOT NULL;
    `);
  }
}
