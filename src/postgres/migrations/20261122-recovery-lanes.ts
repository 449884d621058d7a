import { Migration } from '@mikro-orm/migrations';

/** Lanes of a recovery are found by their subjects, and by when they are due. */
export class RecoveryLanes extends Migration {
  override up(): void {
    this.addSql('DROP INDEX lanes_of_recovery');
  }
}
