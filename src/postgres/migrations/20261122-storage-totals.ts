import { Migration } from '@mikro-orm/migrations';

/**
 * How many bytes each bot has stored in an account: the sum of its row of `bot_storage_totals` and its rows of
 * `bot_storage_changes`, which triggers append to with every change of `bot_storage`, cascades included. No writer waits for
 * another; a sweep adds the changes to the totals.
 */
export class StorageTotals extends Migration {
  override up(): void {
    for (const statement of [tables, triggers, fill]) this.addSql(statement);
  }
}

const table = (name: string, key: string): string => `
  CREATE TABLE ${name} (
    account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    agent_bot_id bigint NOT NULL REFERENCES agent_bots ON DELETE CASCADE,
    bytes bigint NOT NULL${key}
  );
  CREATE INDEX ${name}_by_bot ON ${name} (agent_bot_id, account_id);
  CREATE TRIGGER ${name}_agent_bot BEFORE INSERT OR UPDATE OF agent_bot_id ON ${name}
    FOR EACH ROW EXECUTE FUNCTION refuse_foreign_agent_bot();`;
const tables =
  table('bot_storage_totals', ',\n    CONSTRAINT bot_storage_totals_whose PRIMARY KEY (account_id, agent_bot_id)') +
  table('bot_storage_changes', '');

// Values are deleted with their account or bot, too: then nobody asks for the total any more, and it is gone.
const counted = (rows: string): string => `
  INSERT INTO bot_storage_changes (account_id, agent_bot_id, bytes)
  SELECT s.account_id, s.agent_bot_id, sum(s.bytes) FROM (${rows}) s
  WHERE EXISTS (SELECT FROM accounts a WHERE a.id = s.account_id)
    AND EXISTS (SELECT FROM agent_bots b WHERE b.id = s.agent_bot_id)
  GROUP BY 1, 2 HAVING sum(s.bytes) <> 0;`;
const row = 'SELECT account_id, agent_bot_id';
const trigger = (name: string, { on, rows }: { on: string; rows: string }): string => `
  CREATE FUNCTION count_${name}_storage() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN ${counted(rows)}
    RETURN NULL;
  END $$;
  CREATE TRIGGER bot_storage_count_${name} AFTER ${on}
    FOR EACH STATEMENT EXECUTE FUNCTION count_${name}_storage();`;
const triggers = [
  trigger('new', {
    on: 'INSERT ON bot_storage REFERENCING NEW TABLE AS added',
    rows: `${row}, bytes::bigint FROM added`,
  }),
  trigger('deleted', {
    on: 'DELETE ON bot_storage REFERENCING OLD TABLE AS removed',
    rows: `${row}, -bytes::bigint AS bytes FROM removed`,
  }),
  trigger('changed', {
    on: 'UPDATE ON bot_storage REFERENCING OLD TABLE AS removed NEW TABLE AS added',
    rows: `${row}, bytes::bigint FROM added UNION ALL ${row}, -bytes::bigint FROM removed`,
  }),
].join('\n');

// The triggers above hold a lock until here that keeps everybody else from storing anything.
const fill = `
  INSERT INTO bot_storage_totals (account_id, agent_bot_id, bytes)
  SELECT account_id, agent_bot_id, sum(bytes) FROM bot_storage GROUP BY 1, 2;`;
