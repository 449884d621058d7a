import { Migration } from '@mikro-orm/migrations';

/**
 * Why the plugin of a bot cannot run it, in place of whether it can; and when each version of a plugin began to run
 * last, so that one can go back to the one before.
 */
export class PluginObstacles extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE agent_bots ADD config_fits boolean NOT NULL DEFAULT true,
        ADD plugin_obstacle text CHECK (plugin_obstacle IN ('plugin_missing', 'plugin_disabled'))`);
    this.addSql(`
      UPDATE agent_bots b SET plugin_obstacle = CASE WHEN EXISTS (
          SELECT FROM plugins p WHERE p.id = b.plugin_id AND p.is_present AND p.active_hash IS NOT NULL)
        THEN 'plugin_disabled' ELSE 'plugin_missing' END
      WHERE NOT installed`);
    this.addSql('ALTER TABLE agent_bots DROP installed');
    this.addSql('ALTER TABLE plugin_bundles ADD activated_at timestamptz');
    this.addSql(`
      UPDATE plugin_bundles b SET activated_at = p.updated_at FROM plugins p WHERE p.active_hash = b.hash`);
  }
}
