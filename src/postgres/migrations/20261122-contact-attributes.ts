import { Migration } from '@mikro-orm/migrations';

/** Contacts are found by custom attributes: other systems keep their own names of a contact there, and ask for one per message. */
export class ContactAttributes extends Migration {
  override up(): void {
    this.addSql(
      'CREATE INDEX contacts_by_attributes ON contacts USING gin (account_id, custom_attributes jsonb_path_ops)',
    );
  }
}
