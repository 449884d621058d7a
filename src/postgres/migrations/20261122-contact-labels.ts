import { Migration } from '@mikro-orm/migrations';

/** Labels of contacts. */
export class ContactLabels extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE contact_labels (
        account_id bigint NOT NULL,
        contact_id bigint NOT NULL,
        label_id bigint NOT NULL,
        PRIMARY KEY (account_id, contact_id, label_id),
        CONSTRAINT contact_labels_contact FOREIGN KEY (account_id, contact_id)
          REFERENCES contacts (account_id, id) ON DELETE CASCADE,
        CONSTRAINT contact_labels_label FOREIGN KEY (account_id, label_id) REFERENCES labels (account_id, id) ON DELETE CASCADE
      );
      CREATE INDEX contact_labels_label_index ON contact_labels (account_id, label_id)`);
  }
}
