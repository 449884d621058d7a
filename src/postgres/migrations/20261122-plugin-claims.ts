import { Migration } from '@mikro-orm/migrations';

/** Which folder of an installation, `plugins` or `bots`, each plugin's id belongs to. */
export class PluginClaims extends Migration {
  override async up(): Promise<void> {
    this.addSql(`
      CREATE TABLE plugin_claims (
        id text PRIMARY KEY,
        source text NOT NULL CHECK (source IN ('plugins', 'bots')),
        claimed_at timestamptz NOT NULL DEFAULT now()
      )`);
  }
}
