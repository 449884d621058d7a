import type { Sql } from '../../postgres/sql.ts';

// The columns that distinguish kinds of conversations, and the numbers of each kind.
const kind = 'account_id, assignee_id, status, inbox_id, team_id, agent_bot_id';
const columns = `${kind}, total, assigned`;

/**
 * SQL for FROM: rows of account `$1` by kind, with `total` and `assigned` to be summed. Rows without `assignee_id` count all
 * conversations of the kind; the others those of assignee `$2`.
 */
export const countedConversations = ['conversation_counts', 'conversation_count_changes']
  .map((table) => `SELECT ${columns} FROM ${table} WHERE account_id = $1 AND (assignee_id IS NULL OR assignee_id = $2)`)
  .join(' UNION ALL ');

/** Accounts with changes that are not merged into their counts yet, in the order of their ids. */
export async function findUnmergedAccounts(
  sql: Sql,
  { after, limit }: { after: number; limit: number },
): Promise<{ id: number }[]> {
  return sql<{ id: number }>(
    `SELECT DISTINCT account_id AS id FROM conversation_count_changes WHERE account_id > $1 ORDER BY id LIMIT $2`,
    [after, limit],
  );
}

const mergedAtOnce = 10_000;

/**
 * Merges changes of an account into its counts, in the lock order of counts; returns whether more may be left. Skips changes
 * that another process is merging. Writers of conversations only insert changes, so they never wait for it.
 */
export async function mergeCounts(sql: Sql, accountId: number): Promise<boolean> {
  const [row] = await sql<{ taken: number }>(
    `WITH taken AS (
       DELETE FROM conversation_count_changes WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM conversation_count_changes WHERE account_id = $1 LIMIT ${mergedAtOnce} FOR UPDATE SKIP LOCKED))
       RETURNING *
     ), merged AS (
       INSERT INTO conversation_counts AS kept (${columns})
       SELECT ${kind}, sum(total), sum(assigned) FROM taken
       GROUP BY ${kind} HAVING sum(total) <> 0 OR sum(assigned) <> 0 ORDER BY ${kind}
       ON CONFLICT ON CONSTRAINT conversation_counts_kind
         DO UPDATE SET total = kept.total + excluded.total, assigned = kept.assigned + excluded.assigned
     )
     SELECT count(*) AS taken FROM taken`,
    [accountId],
  );
  await sql(
    `DELETE FROM conversation_counts WHERE ctid = ANY (ARRAY(SELECT ctid FROM conversation_counts
       WHERE account_id = $1 AND total = 0 AND assigned = 0 FOR UPDATE SKIP LOCKED))`,
    [accountId],
  );
  return row?.taken === mergedAtOnce;
}

/** An inbox whose conversations are recounted together. */
export interface CountedInbox {
  account_id: number;
  inbox_id: number;
}

/** Inboxes, existing ones and those in counts, in the order of accounts and ids. */
export function findCountedInboxes(
  sql: Sql,
  { after, limit }: { after: CountedInbox | null; limit: number },
): Promise<CountedInbox[]> {
  return sql<CountedInbox>(
    `SELECT account_id, id AS inbox_id FROM inboxes WHERE (account_id, id) > ($1, $2)
     UNION SELECT account_id, inbox_id FROM conversation_counts WHERE (account_id, inbox_id) > ($1, $2)
     ORDER BY account_id, inbox_id LIMIT $3`,
    [after?.account_id ?? 0, after?.inbox_id ?? 0, limit],
  );
}

/**
 * Recounts an inbox's conversations and corrects the counts; returns how many kinds were wrong, which should be 0. Reads one
 * snapshot and inserts the differences as changes, so that concurrent changes are counted too.
 */
export async function recount(sql: Sql, { account_id, inbox_id }: CountedInbox): Promise<number> {
  const kept = ['conversation_counts', 'conversation_count_changes']
    .map((table) => `SELECT ${kind}, -total, -assigned FROM ${table} WHERE account_id = $1 AND inbox_id = $2`)
    .join(' UNION ALL ');
  const rows = await sql(
    `INSERT INTO conversation_count_changes (${columns})
     SELECT ${kind}, sum(total), sum(assigned) FROM (
       SELECT c.account_id, whose.assignee_id, c.status, c.inbox_id, c.team_id, c.agent_bot_id, count(*) AS total,
         count(c.assignee_id) AS assigned
       FROM conversations c CROSS JOIN LATERAL (
         SELECT NULL::bigint UNION ALL SELECT c.assignee_id WHERE c.assignee_id IS NOT NULL) AS whose (assignee_id)
       WHERE c.account_id = $1 AND c.inbox_id = $2 GROUP BY 1, 2, 3, 4, 5, 6
       UNION ALL ${kept}
     ) both_counts
     GROUP BY ${kind} HAVING sum(total) <> 0 OR sum(assigned) <> 0 RETURNING 1`,
    [account_id, inbox_id],
  );
  return rows.length;
}
