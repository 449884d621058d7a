import { Migration } from '@mikro-orm/migrations';

/**
 * Files of copied messages that could not be had: where they are in the list of their message there (`positions`), so that the
 * next run of the import asks for them again.
 */
export class MissingFiles extends Migration {
  override up(): void {
    for (const statement of [table, index]) this.addSql(statement);
  }
}

const table = `
  CREATE TABLE missing_files (
    account_id bigint NOT NULL,
    message_id bigint NOT NULL,
    import_id bigint NOT NULL,
    foreign_conversation_id bigint NOT NULL,
    foreign_id bigint NOT NULL,
    positions integer[] NOT NULL,
    PRIMARY KEY (account_id, message_id),
    CONSTRAINT missing_files_message FOREIGN KEY (account_id, message_id)
      REFERENCES messages (account_id, id) ON DELETE CASCADE,
    CONSTRAINT missing_files_import FOREIGN KEY (account_id, import_id)
      REFERENCES imports (account_id, id) ON DELETE CASCADE
  );`;
const index = 'CREATE INDEX missing_files_by_import ON missing_files (account_id, import_id, message_id);';
