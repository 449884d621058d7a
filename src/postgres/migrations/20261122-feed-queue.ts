import { Migration } from '@mikro-orm/migrations';

/**
 * The queue of events without a position refers to no event: the reference was checked, and the event locked, for each event
 * of each commit. Placing leaves out what was deleted meanwhile.
 */
export class FeedQueue extends Migration {
  override up(): void {
    this.addSql('ALTER TABLE unplaced_events DROP CONSTRAINT unplaced_events_event');
  }
}
