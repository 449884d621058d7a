import { Migration } from '@mikro-orm/migrations';

/** Whoever merges or erases a contact looks for what imports know of it, by its id here. */
export class ImportedContacts extends Migration {
  override up(): void {
    this.addSql(`CREATE INDEX imported_contacts ON imported (account_id, local_id) WHERE kind = 'contact';`);
  }
}
