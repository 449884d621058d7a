import { Migration } from '@mikro-orm/migrations';

/**
 * Lists of runs, newest first, of a bot or of a conversation: by the indexes that deletions of bots and conversations need
 * too. Old runs are found by their age.
 */
export class RunLists extends Migration {
  override async up(): Promise<void> {
    this.addSql(`
      DROP INDEX bot_runs_by_bot, bot_runs_by_conversation;
      CREATE INDEX bot_runs_by_bot ON bot_runs (agent_bot_id, account_id, created_at, id);
      CREATE INDEX bot_runs_by_conversation ON bot_runs (account_id, conversation_id, created_at, id);
      CREATE INDEX bot_runs_by_age ON bot_runs USING brin (created_at);`);
  }
}
