import { Migration } from '@mikro-orm/migrations';

/** Conversations that are still to say that a label they carry has another title, and the title they said last. */
export class LabelRenames extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE label_renames (
        account_id bigint NOT NULL,
        label_id bigint NOT NULL,
        conversation_id bigint NOT NULL,
        previous_title text NOT NULL,
        PRIMARY KEY (account_id, label_id, conversation_id),
        CONSTRAINT label_renames_carrier FOREIGN KEY (account_id, conversation_id, label_id)
          REFERENCES conversation_labels (account_id, conversation_id, label_id) ON DELETE CASCADE
      );
    `);
  }
}
