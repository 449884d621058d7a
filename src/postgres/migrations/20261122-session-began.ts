import { Migration } from '@mikro-orm/migrations';

/** When the present session of a conversation began: its last reopening. Null in the first session, which began with it. */
export class SessionBegan extends Migration {
  override up(): void {
    this.addSql('ALTER TABLE conversations ADD session_began_at timestamptz');
  }
}
