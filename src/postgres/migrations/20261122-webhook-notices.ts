import { Migration } from '@mikro-orm/migrations';

/** When an account was told that a webhook of it has been failing for an hour. */
export class WebhookNotices extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE webhooks ADD failing_told_at timestamptz;
      CREATE INDEX webhooks_failing ON webhooks (failing_since) WHERE failing_since IS NOT NULL;`);
  }
}
