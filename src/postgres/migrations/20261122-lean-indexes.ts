import { Migration } from '@mikro-orm/migrations';

/**
 * Leaves of the indexes on conversations what reads need: a message changes when its conversation was last active, which
 * writes an entry to each of them anew. The orders of the list stand in three narrow indexes, by status; the list of all
 * statuses merges four stretches of one. Whatever else a list filters by, it looks up in the rows. Keys are those that hold
 * the account; ids by themselves are looked up by nobody.
 */
export class LeanIndexes extends Migration {
  override async up(): Promise<void> {
    for (const statement of [orders, groups, keys]) this.addSql(statement);
  }
}

const orders = `
  DROP INDEX conversations_by_activity, conversations_by_creation, conversations_by_update, conversations_by_status,
    conversations_by_status_and_creation, conversations_by_status_and_update;
  CREATE INDEX conversations_by_activity ON conversations (account_id, status, last_activity_at, id);
  CREATE INDEX conversations_by_creation ON conversations (account_id, status, created_at, id);
  CREATE INDEX conversations_by_update ON conversations (account_id, status, updated_at, id);`;

const groups = `
  DROP INDEX conversations_by_inbox, conversations_by_team, conversations_by_assignee;
  CREATE INDEX conversations_by_inbox ON conversations (account_id, inbox_id, status);
  CREATE INDEX conversations_by_team ON conversations (account_id, team_id, status) WHERE team_id IS NOT NULL;
  CREATE INDEX conversations_by_assignee ON conversations (account_id, assignee_id, status);`;

const keys = `
  ALTER TABLE conversations DROP CONSTRAINT conversations_pkey, REPLICA IDENTITY USING INDEX conversations_tenant;
  ALTER TABLE messages DROP CONSTRAINT messages_pkey, REPLICA IDENTITY USING INDEX messages_tenant;`;
