import { Migration } from '@mikro-orm/migrations';

/**
 * Each account's feed knows how far it was deleted for its age, so that a reader who comes too late is told so, instead of
 * reading on behind events that it never saw.
 */
export class FeedBounds extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE event_feed_heads ADD COLUMN dropped bigint NOT NULL DEFAULT 0;
      UPDATE event_feed_heads h SET dropped = coalesce(
        (SELECT min(f.position) - 1 FROM event_feed f WHERE f.account_id = h.account_id), h.position);
    `);
  }
}
