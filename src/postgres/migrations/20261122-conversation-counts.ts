import { Migration } from '@mikro-orm/migrations';

/**
 * How many conversations there are of each kind, so that a list need not count them. A count is the sum of a row of
 * `conversation_counts` and the rows of `conversation_count_changes`, which whoever writes a conversation appends: no
 * writer waits for another. A sweep adds the changes to the counts.
 *
 * Triggers append them, so that no writer can forget it: verbs, cascades, whoever works on the database by hand. A row
 * without an assignee counts the conversations of all assignees and of none; a row with one counts that assignee's.
 */
export class ConversationCounts extends Migration {
  override async up(): Promise<void> {
    for (const statement of [tables, triggers, fill]) this.addSql(statement);
  }
}

const tables = `
  CREATE TABLE conversation_counts (
    account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    assignee_id bigint,
    status text NOT NULL,
    inbox_id bigint NOT NULL,
    team_id bigint,
    agent_bot_id bigint,
    total bigint NOT NULL,
    assigned bigint NOT NULL,
    CONSTRAINT conversation_counts_kind
      UNIQUE NULLS NOT DISTINCT (account_id, assignee_id, status, inbox_id, team_id, agent_bot_id)
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
  CREATE TABLE conversation_count_changes (
    account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    assignee_id bigint,
    status text NOT NULL,
    inbox_id bigint NOT NULL,
    team_id bigint,
    agent_bot_id bigint,
    total bigint NOT NULL,
    assigned bigint NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
  CREATE INDEX conversation_count_changes_by_assignee ON conversation_count_changes (account_id, assignee_id);`;

const columns = 'account_id, assignee_id, status, inbox_id, team_id, agent_bot_id, total, assigned';

// Of each kind of conversation two rows are meant: everybody's, and its assignee's.
const whose =
  '(SELECT NULL::bigint UNION ALL SELECT c.assignee_id WHERE c.assignee_id IS NOT NULL) AS whose (assignee_id)';

// Conversations are deleted with their account, too: then nobody asks for its counts any more, and they are gone.
const counted = (rows: string, sign: string): string => `
  INSERT INTO conversation_count_changes (${columns})
  SELECT c.account_id, whose.assignee_id, c.status, c.inbox_id, c.team_id, c.agent_bot_id,
    ${sign}count(*), ${sign}count(c.assignee_id)
  FROM ${rows} c CROSS JOIN LATERAL ${whose}
  WHERE EXISTS (SELECT FROM accounts a WHERE a.id = c.account_id)
  GROUP BY 1, 2, 3, 4, 5, 6;`;

// A message leaves the kind of its conversation as it is, and then the trigger's condition is all it pays.
const triggers = `
  CREATE FUNCTION count_new_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN ${counted('added', '')}
    RETURN NULL;
  END $$;
  CREATE FUNCTION count_deleted_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN ${counted('deleted', '-')}
    RETURN NULL;
  END $$;
  CREATE FUNCTION count_changed_conversation() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO conversation_count_changes (${columns})
    SELECT c.account_id, whose.assignee_id, c.status, c.inbox_id, c.team_id, c.agent_bot_id,
      c.difference, CASE WHEN c.assignee_id IS NULL THEN 0 ELSE c.difference END
    FROM (VALUES
      (OLD.account_id, OLD.assignee_id, OLD.status, OLD.inbox_id, OLD.team_id, OLD.agent_bot_id, -1),
      (NEW.account_id, NEW.assignee_id, NEW.status, NEW.inbox_id, NEW.team_id, NEW.agent_bot_id, 1)
    ) AS c (account_id, assignee_id, status, inbox_id, team_id, agent_bot_id, difference)
    CROSS JOIN LATERAL ${whose};
    RETURN NULL;
  END $$;
  CREATE TRIGGER conversations_count_new AFTER INSERT ON conversations REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_new_conversations();
  CREATE TRIGGER conversations_count_deleted AFTER DELETE ON conversations REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_conversations();
  CREATE TRIGGER conversations_count_changed AFTER UPDATE ON conversations FOR EACH ROW
    WHEN ((OLD.account_id, OLD.assignee_id, OLD.status, OLD.inbox_id, OLD.team_id, OLD.agent_bot_id)
      IS DISTINCT FROM (NEW.account_id, NEW.assignee_id, NEW.status, NEW.inbox_id, NEW.team_id, NEW.agent_bot_id))
    EXECUTE FUNCTION count_changed_conversation();`;

// The triggers above hold a lock until here that keeps everybody else from writing conversations.
const fill = `
  INSERT INTO conversation_counts (${columns})
  SELECT c.account_id, whose.assignee_id, c.status, c.inbox_id, c.team_id, c.agent_bot_id, count(*), count(c.assignee_id)
  FROM conversations c CROSS JOIN LATERAL ${whose}
  GROUP BY 1, 2, 3, 4, 5, 6;`;
