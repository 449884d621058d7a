import type { Sql } from '../../postgres/sql.ts';

/** Changes that a bulk action makes in each of its conversations; undefined leaves a field as it is. */
export interface BulkChanges {
  status?: 'open' | 'resolved' | 'pending' | 'snoozed' | undefined;
  /** Unix seconds. */
  snoozedUntil?: number | null | undefined;
  priority?: 'low' | 'medium' | 'high' | 'urgent' | null | undefined;
  assigneeId?: number | null | undefined;
  teamId?: number | null | undefined;
  labels?: { add: string[]; remove: string[] } | undefined;
}

/** Refusal of the changes in one conversation. */
export interface BulkFailure {
  conversation_id: number;
  code: string;
  error: string;
}

/** Changes of many conversations in the name of an agent, and their progress. */
export interface ConversationBulkAction {
  id: number;
  state: 'running' | 'done';
  total: number;
  done: number;
  failed: number;
  /** The first ones. */
  failures: readonly BulkFailure[];
}

/** Conversations of a bulk action that one transaction changes. */
export interface ConversationBatch {
  ids: readonly number[];
  changes: BulkChanges;
  /** The agent's seat. */
  agentId: number;
}

/** A bulk action that is not complete. */
export interface RunningBulkAction {
  id: number;
  account: { id: number; name: string };
}

// Conversations of one batch.
const batchSize = 20;
const maxFailures = 100;

/** Stores a bulk action; `ids` are in the order in which they are worked on. Returns its id. */
export async function insertConversationBulkAction(
  sql: Sql,
  accountId: number,
  { ids, changes, agentId, depth }: ConversationBatch & { depth: number },
): Promise<number> {
  const [row] = await sql<{ id: number }>(
    `INSERT INTO conversation_bulk_actions (account_id, agent_id, depth, changes, selected) VALUES ($1, $2, $3, $4, $5) RETURNING id`,
    [accountId, agentId, depth, JSON.stringify(changes), ids],
  );
  return (row as { id: number }).id;
}

/** Locks a running bulk action and returns its next batch; null when it is complete, or another process works on it. */
export async function takeConversationBatch(
  sql: Sql,
  accountId: number,
  id: number,
): Promise<ConversationBatch | null> {
  const [row] = await sql<{ ids: string[]; changes: BulkChanges; agent_id: number }>(
    `SELECT selected[done + failed + 1 : done + failed + ${batchSize}] AS ids, changes, agent_id FROM conversation_bulk_actions
     WHERE account_id = $1 AND id = $2 AND state = 'running' FOR UPDATE SKIP LOCKED`,
    [accountId, id],
  );
  // The elements of arrays are texts.
  return row ? { ids: row.ids.map(Number), changes: row.changes, agentId: row.agent_id } : null;
}

/** Adds the result of a batch; returns whether conversations remain. */
export async function noteConversationBatch(
  sql: Sql,
  { accountId, id }: { accountId: number; id: number },
  { done, failures }: { done: number; failures: readonly BulkFailure[] },
): Promise<boolean> {
  const [row] = await sql<{ state: string }>(
    `UPDATE conversation_bulk_actions SET done = done + $3, failed = failed + $4,
       failures = CASE WHEN failed < ${maxFailures} THEN failures || $5::jsonb ELSE failures END,
       state = CASE WHEN done + failed + $3 + $4 >= cardinality(selected) THEN 'done' ELSE 'running' END
     WHERE account_id = $1 AND id = $2 RETURNING state`,
    [accountId, id, done, failures.length, JSON.stringify(failures)],
  );
  return row?.state === 'running';
}

/** Completes a bulk action whose remaining conversations cannot be changed: they count as failed. */
export async function failConversationBulkAction(sql: Sql, accountId: number, id: number): Promise<void> {
  await sql(
    `UPDATE conversation_bulk_actions SET state = 'done', failed = cardinality(selected) - done
     WHERE account_id = $1 AND id = $2`,
    [accountId, id],
  );
}

/** Returns a bulk action of the agent, of any agent for null; null when there is none. */
export async function findConversationBulkAction(
  sql: Sql,
  accountId: number,
  { id, agentId }: { id: number; agentId: number | null },
): Promise<ConversationBulkAction | null> {
  const [row] = await sql<ConversationBulkAction>(
    `SELECT id, state, cardinality(selected) AS total, done, failed, failures FROM conversation_bulk_actions
     WHERE account_id = $1 AND id = $2 AND ($3::bigint IS NULL OR agent_id = $3)`,
    [accountId, id, agentId],
  );
  return row ?? null;
}

/** Returns how many bulk actions of the account are not complete. */
export async function countRunningBulkActions(sql: Sql, accountId: number): Promise<number> {
  const [row] = await sql<{ count: number }>(
    `SELECT count(*)::int AS count FROM conversation_bulk_actions WHERE account_id = $1 AND state = 'running'`,
    [accountId],
  );
  return row?.count ?? 0;
}

/** Returns bulk actions that are not complete, after an id, in the order of their ids. */
export async function findRunningBulkActions(
  sql: Sql,
  { after, limit }: { after: number; limit: number },
): Promise<RunningBulkAction[]> {
  const rows = await sql<{ id: number; account_id: number; name: string }>(
    `SELECT b.id, b.account_id, a.name FROM conversation_bulk_actions b JOIN accounts a ON a.id = b.account_id
     WHERE b.state = 'running' AND b.id > $1 ORDER BY b.id LIMIT $2`,
    [after, limit],
  );
  return rows.map(({ id, account_id: accountId, name }) => ({ id, account: { id: accountId, name } }));
}

/** Returns complete bulk actions that are older than `days`, in the order of their ids. */
export function findOldConversationBulkActions(
  sql: Sql,
  days: number,
  { after, limit }: { after: number; limit: number },
): Promise<{ id: number }[]> {
  return sql<{ id: number }>(
    `SELECT id FROM conversation_bulk_actions WHERE created_at < now() - make_interval(days => $1) AND state = 'done' AND id > $2
     ORDER BY id LIMIT $3`,
    [days, after, limit],
  );
}

/** Deletes bulk actions; returns how many. */
export async function deleteConversationBulkActions(sql: Sql, ids: readonly number[]): Promise<number> {
  return (await sql('DELETE FROM conversation_bulk_actions WHERE id = ANY ($1) RETURNING id', [ids])).length;
}
