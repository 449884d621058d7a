import { Migration } from '@mikro-orm/migrations';

/** When a bot's access token was last used. */
export class BotTokens extends Migration {
  override up(): void {
    this.addSql('ALTER TABLE agent_bots ADD token_last_used_at timestamptz;');
  }
}
