import { Migration } from '@mikro-orm/migrations';

/**
 * Counts what became of the claims of a delivery: `failures`, the attempts that ended with a result, which alone move it
 * on in its schedule; `claims`, those since the last written result, which end it when they are too many.
 */
export class Claims extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE deliveries ADD failures integer NOT NULL DEFAULT 0, ADD claims integer NOT NULL DEFAULT 0;
      UPDATE deliveries d SET failures = (
        SELECT count(*) FROM attempts a WHERE a.account_id = d.account_id AND a.delivery_id = d.id AND a.outcome = 'failed')
      WHERE state = 'pending' AND attempt > 0;
    `);
  }
}
