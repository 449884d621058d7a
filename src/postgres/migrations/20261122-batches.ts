import { Migration } from '@mikro-orm/migrations';

/**
 * What sweeps over many conversations need: due moments are read in pages, in the order of moment and id, from an index
 * alone; and changed conversations are counted by the statement that changes them, not one by one.
 */
export class Batches extends Migration {
  override async up(): Promise<void> {
    for (const statement of [dueMoments, counting]) this.addSql(statement);
  }
}

// Many rows may be due at the same moment; without the id, each page would sort all of them anew.
const dueMoments = `
  DROP INDEX conversations_due_snoozes, conversations_due_first_responses, conversations_due_resolutions;
  CREATE INDEX conversations_due_snoozes ON conversations (snoozed_until, id) WHERE status = 'snoozed';
  CREATE INDEX conversations_due_first_responses ON conversations (first_response_due_at, id)
    WHERE first_response_due_at IS NOT NULL;
  CREATE INDEX conversations_due_resolutions ON conversations (resolution_due_at, id)
    WHERE resolution_due_at IS NOT NULL;`;

const kind = 'account_id, assignee_id, status, inbox_id, team_id, agent_bot_id';

// Kinds that lose as many conversations as they gain cancel out; a message changes no kind and appends nothing.
const counting = `
  DROP TRIGGER conversations_count_changed ON conversations;
  DROP FUNCTION count_changed_conversation;
  CREATE FUNCTION count_changed_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO conversation_count_changes (${kind}, total, assigned)
    SELECT c.account_id, whose.assignee_id, c.status, c.inbox_id, c.team_id, c.agent_bot_id, sum(c.difference),
      coalesce(sum(c.difference) FILTER (WHERE c.assignee_id IS NOT NULL), 0)
    FROM (SELECT ${kind}, -1 AS difference FROM before UNION ALL SELECT ${kind}, 1 FROM after) c
    CROSS JOIN LATERAL (SELECT NULL::bigint UNION ALL SELECT c.assignee_id WHERE c.assignee_id IS NOT NULL)
      AS whose (assignee_id)
    GROUP BY 1, 2, 3, 4, 5, 6
    HAVING sum(c.difference) <> 0 OR coalesce(sum(c.difference) FILTER (WHERE c.assignee_id IS NOT NULL), 0) <> 0;
    RETURN NULL;
  END $$;
  CREATE TRIGGER conversations_count_changed AFTER UPDATE ON conversations
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_changed_conversations();`;
