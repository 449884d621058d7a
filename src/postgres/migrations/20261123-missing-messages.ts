import { Migration } from '@mikro-orm/migrations';

/**
 * Messages that an import left out because the database did not write them in time: they are asked for again at the end of each
 * run. And whoever erases a contact looks for what imports know of its conversations, by their ids here.
 */
export class MissingMessages extends Migration {
  override up(): void {
    for (const statement of [table, index]) this.addSql(statement);
  }
}

const table = `
  CREATE TABLE missing_messages (
    account_id bigint NOT NULL,
    import_id bigint NOT NULL,
    foreign_id bigint NOT NULL,
    foreign_conversation_id bigint NOT NULL,
    PRIMARY KEY (account_id, import_id, foreign_id),
    CONSTRAINT missing_messages_import FOREIGN KEY (account_id, import_id)
      REFERENCES imports (account_id, id) ON DELETE CASCADE
  );`;
const index = `CREATE INDEX imported_conversations ON imported (account_id, local_id) WHERE kind = 'conversation';`;
