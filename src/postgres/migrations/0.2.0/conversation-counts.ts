const kind = 'account_id, assignee_id, status, inbox_id, team_id, agent_bot_id';
const columns = `${kind}, total, assigned`;

// Each conversation is counted in two rows: that of all assignees, and that of its own.
const whose =
  '(SELECT NULL::bigint UNION ALL SELECT c.assignee_id WHERE c.assignee_id IS NOT NULL) AS whose (assignee_id)';

/**
 * How many conversations there are of each kind, so that a list need not count them. A count is the sum of a row of
 * `conversation_counts` and the rows of `conversation_count_changes`, which each write of a conversation appends: no writer
 * waits for another. A sweep adds the changes to the counts.
 *
 * Triggers append them, so that no writer can forget it: verbs, cascades, statements by hand. A row without an assignee counts
 * the conversations of all assignees and of none; a row with one counts that assignee's.
 */
export const conversationCounts = `
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
  CREATE INDEX conversation_count_changes_by_assignee ON conversation_count_changes (account_id, assignee_id);
  INSERT INTO conversation_counts (${columns})
  SELECT c.account_id, whose.assignee_id, c.status, c.inbox_id, c.team_id, c.agent_bot_id, count(*), count(c.assignee_id)
  FROM conversations c CROSS JOIN LATERAL ${whose}
  GROUP BY 1, 2, 3, 4, 5, 6;

  CREATE FUNCTION count_new_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN${counted('added')}
    RETURN NULL;
  END $$;
  CREATE FUNCTION count_deleted_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN${counted('deleted', '-')}
    RETURN NULL;
  END $$;
  CREATE TRIGGER conversations_count_new AFTER INSERT ON conversations REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_new_conversations();
  CREATE TRIGGER conversations_count_deleted AFTER DELETE ON conversations REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_conversations();

  -- Kinds that lose as many conversations as they gain cancel out; a message changes no kind and appends nothing.
  CREATE FUNCTION count_changed_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO conversation_count_changes (${columns})
    SELECT c.account_id, whose.assignee_id, c.status, c.inbox_id, c.team_id, c.agent_bot_id, sum(c.difference),
      coalesce(sum(c.difference) FILTER (WHERE c.assignee_id IS NOT NULL), 0)
    FROM (SELECT ${kind}, -1 AS difference FROM before UNION ALL SELECT ${kind}, 1 FROM after) c
    CROSS JOIN LATERAL ${whose}
    GROUP BY 1, 2, 3, 4, 5, 6
    HAVING sum(c.difference) <> 0 OR coalesce(sum(c.difference) FILTER (WHERE c.assignee_id IS NOT NULL), 0) <> 0;
    RETURN NULL;
  END $$;
  CREATE TRIGGER conversations_count_changed AFTER UPDATE ON conversations
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_changed_conversations();`;

// Conversations are deleted with their account, too: then its counts are deleted already.
function counted(rows: string, sign = ''): string {
  return `
    INSERT INTO conversation_count_changes (${columns})
    SELECT c.account_id, whose.assignee_id, c.status, c.inbox_id, c.team_id, c.agent_bot_id,
      ${sign}count(*), ${sign}count(c.assignee_id)
    FROM ${rows} c CROSS JOIN LATERAL ${whose}
    WHERE EXISTS (SELECT FROM accounts a WHERE a.id = c.account_id)
    GROUP BY 1, 2, 3, 4, 5, 6;`;
}
