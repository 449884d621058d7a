import { Migration } from '@mikro-orm/migrations';

/** Contacts are found by their identifiers too: other systems know them by nothing else. */
export class ContactIdentifiers extends Migration {
  override up(): void {
    this.addSql(`
      DROP INDEX contacts_by_text;
      CREATE INDEX contacts_by_text ON contacts USING gin
        (account_id, (lower(name || ' ' || coalesce(email, '') || ' ' || coalesce(phone_number, '') || ' '
          || coalesce(identifier, ''))) gin_trgm_ops)`);
  }
}
