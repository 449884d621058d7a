import { Migration } from '@mikro-orm/migrations';

/**
 * An inbox's conversations stand in the order of the list in an index of their own: page 400 of one inbox looked at every
 * conversation of the account on its way. It costs a message 40 bytes of log, in an index that it wrote anyway.
 */
export class InboxOrder extends Migration {
  override up(): void {
    this.addSql(`
      DROP INDEX conversations_by_inbox;
      CREATE INDEX conversations_by_inbox ON conversations (account_id, inbox_id, status, last_activity_at, id);
    `);
  }
}
