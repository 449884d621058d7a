import { Migration } from '@mikro-orm/migrations';

const health = (table: string): string => `
  ALTER TABLE ${table}
    ADD COLUMN is_proven boolean NOT NULL DEFAULT false,
    ADD COLUMN consecutive_failures integer NOT NULL DEFAULT 0,
    ADD COLUMN unanswered_attempts integer NOT NULL DEFAULT 0,
    ADD COLUMN failing_since timestamptz,
    ADD COLUMN circuit_trips integer NOT NULL DEFAULT 0,
    ADD COLUMN circuit_probe_at timestamptz;`;

// An account's due lanes are found without reading those of others that the same system bot serves.
const dueLanes = `
  DROP INDEX lanes_due;
  CREATE INDEX lanes_due ON lanes (endpoint_kind, endpoint_id, account_id, due_at) WHERE due_at IS NOT NULL;`;

/** Each endpoint's row tells how attempts on it ended: whether it is proven, and its circuit. */
export class EndpointHealth extends Migration {
  override up(): void {
    this.addSql(health('webhooks'));
    this.addSql(health('agent_bots'));
    this.addSql('ALTER TABLE agent_bots ADD COLUMN disabled_reason text;');
    this.addSql(dueLanes);
  }
}
