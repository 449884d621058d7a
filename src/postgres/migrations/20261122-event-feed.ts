import { Migration } from '@mikro-orm/migrations';

/**
 * The feed: each account's events in the order in which a reader may follow them, by a position that is given after the
 * commit. Ids are taken before it, so a reader of ids would pass an event that commits later.
 */
export class EventFeed extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE event_feed (
        account_id bigint NOT NULL,
        position bigint NOT NULL,
        event_id bigint NOT NULL,
        PRIMARY KEY (account_id, position),
        CONSTRAINT event_feed_event_unique UNIQUE (account_id, event_id),
        CONSTRAINT event_feed_event FOREIGN KEY (account_id, event_id) REFERENCES events (account_id, id) ON DELETE CASCADE
      );
      CREATE TABLE event_feed_heads (
        account_id bigint PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
        position bigint NOT NULL
      );
      CREATE TABLE unplaced_events (
        event_id bigint NOT NULL,
        account_id bigint NOT NULL,
        PRIMARY KEY (account_id, event_id),
        CONSTRAINT unplaced_events_event FOREIGN KEY (account_id, event_id) REFERENCES events (account_id, id)
          ON DELETE CASCADE
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

      LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE;
      INSERT INTO event_feed (account_id, position, event_id)
        SELECT account_id, row_number() OVER (PARTITION BY account_id ORDER BY id), id FROM events;
      INSERT INTO event_feed_heads (account_id, position)
        SELECT account_id, max(position) FROM event_feed GROUP BY account_id;
    `);
  }
}
