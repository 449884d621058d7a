import { Migration } from '@mikro-orm/migrations';

const pauses = (table: string): string => `
  ALTER TABLE ${table} ADD paused_at timestamptz, ADD resumed_at timestamptz;`;

/**
 * Deliveries that somebody asks for, and pauses. `superseded` says that a later delivery of the same event to the same
 * endpoint was asked for, `is_answered` that one of them has arrived, while this one was in progress.
 */
export class AskedDeliveries extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE deliveries ADD superseded boolean NOT NULL DEFAULT false, ADD is_answered boolean NOT NULL DEFAULT false;`);
    this.addSql(pauses('webhooks'));
    this.addSql(pauses('agent_bots'));
  }
}
