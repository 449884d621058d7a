import { Migration } from '@mikro-orm/migrations';

/** Who resolved or snoozed a conversation: what a person closed, a bot does not speak into. Not known of what is closed already. */
export class ClosedBy extends Migration {
  override up(): void {
    this.addSql(`ALTER TABLE conversations ADD closed_by text CONSTRAINT conversations_closed_by
      CHECK (closed_by IN ('user', 'agent_bot', 'contact', 'system'));`);
  }
}
