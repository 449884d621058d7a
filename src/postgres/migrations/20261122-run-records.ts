import { Migration } from '@mikro-orm/migrations';

/**
 * Records of runs from which a run can be repeated exactly: its calls with their answers, what it was granted, where it
 * failed. `json` keeps texts as they are; `jsonb` would change the order of names, which bots can see.
 */
export class RunRecords extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE bot_runs ALTER config TYPE json, ALTER actions TYPE json, ALTER logs TYPE json,
        ADD calls json NOT NULL DEFAULT '[]', ADD permissions json, ADD limits json, ADD error_stack text,
        ADD cpu_ms integer NOT NULL DEFAULT 0`);
  }
}
