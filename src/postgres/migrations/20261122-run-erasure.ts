import { Migration } from '@mikro-orm/migrations';

/** When the content of a run was deleted, together with a message that it had got or written. */
export class RunErasure extends Migration {
  override up(): void {
    this.addSql('ALTER TABLE bot_runs ADD erased_at timestamptz');
  }
}
