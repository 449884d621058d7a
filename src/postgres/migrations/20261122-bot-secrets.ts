import { Migration } from '@mikro-orm/migrations';

/** Lets the secret before sign a bot's deliveries too while its server learns the new one. */
export class BotSecrets extends Migration {
  override up(): void {
    this.addSql('ALTER TABLE agent_bots ADD previous_secret text, ADD previous_secret_expires_at timestamptz;');
  }
}
