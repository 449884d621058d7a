import { Migration } from '@mikro-orm/migrations';

/**
 * Tells apart what a bot did to fall silent, which binds that bot alone, and what people did, which binds every bot. What
 * a bot did before is the bot's that serves now.
 */
export class Silence extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE conversations ADD bot_silence_of bigint,
        ADD human_silence text CHECK (human_silence IN ('human_replied', 'human_opened')),
        DROP CONSTRAINT conversations_bot_silence_check;
      UPDATE conversations SET human_silence = bot_silence, bot_silence = NULL
      WHERE bot_silence IN ('human_replied', 'human_opened');
      UPDATE conversations c SET bot_silence_of = coalesce(c.agent_bot_id, i.agent_bot_id),
        bot_silence = CASE WHEN coalesce(c.agent_bot_id, i.agent_bot_id) IS NOT NULL THEN c.bot_silence END
      FROM inboxes i WHERE i.account_id = c.account_id AND i.id = c.inbox_id AND c.bot_silence IS NOT NULL;
      ALTER TABLE conversations
        ADD CONSTRAINT conversations_bot_silence CHECK (bot_silence IN ('handed_off', 'loop_suspected', 'bot_failed')),
        ADD CONSTRAINT conversations_bot_silence_of CHECK ((bot_silence IS NULL) = (bot_silence_of IS NULL));
      ALTER TABLE agent_bots ADD installed boolean NOT NULL DEFAULT true;
    `);
  }
}
