import { Migration } from '@mikro-orm/migrations';

/**
 * Names beside each stored answer the records that it tells of, so that erasing one erases the answer. What the answers of
 * earlier releases tell of is unknown: the first erasure takes all of them. Their bytes are counted by caller.
 */
export class StoredAnswers extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE idempotency_keys ADD COLUMN names text[] NOT NULL DEFAULT '{unknown}',
        ADD COLUMN stored_bytes integer NOT NULL GENERATED ALWAYS AS (octet_length(body)) STORED;
      CREATE INDEX idempotency_keys_by_name ON idempotency_keys USING gin (names) WITH (fastupdate = off);
      CREATE INDEX idempotency_keys_stored ON idempotency_keys (holder, created_at DESC, stored_bytes) WHERE body <> '';
    `);
  }
}
