import { Migration } from '@mikro-orm/migrations';

/** A contact whose deletion was asked for and takes more than one transaction. */
export class ContactErasure extends Migration {
  override async up(): Promise<void> {
    this.addSql(`
      ALTER TABLE contacts ADD COLUMN deletion_requested_at timestamptz;
      CREATE INDEX contacts_to_erase ON contacts (deletion_requested_at) WHERE deletion_requested_at IS NOT NULL`);
  }
}
