import { Migration } from '@mikro-orm/migrations';

/**
 * Notes and changes that bots have made in a conversation in a row, and when the last one was: bots that react to their own
 * notes and changes are loops too.
 */
export class BotChanges extends Migration {
  override up(): void {
    this.addSql(
      `ALTER TABLE conversations ADD bot_changes integer NOT NULL DEFAULT 0, ADD bot_changed_at timestamptz;`,
    );
  }
}
