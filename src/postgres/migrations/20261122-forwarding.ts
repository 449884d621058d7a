import { Migration } from '@mikro-orm/migrations';

/** Plugin bots may have a server too, to which their plugin forwards events; `forwarded` deliveries are for that server. */
export class Forwarding extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE deliveries ADD forwarded boolean NOT NULL DEFAULT false;
      ALTER TABLE agent_bots DROP CONSTRAINT agent_bots_kind, ADD CONSTRAINT agent_bots_kind CHECK (
        (outgoing_url IS NULL OR secret IS NOT NULL)
        AND ((kind = 'webhook' AND outgoing_url IS NOT NULL AND plugin_id IS NULL)
          OR (kind = 'plugin' AND plugin_id IS NOT NULL)));
    `);
  }
}
