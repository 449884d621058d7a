import { moment, type Sql } from '../../postgres/sql.ts';
import type { CancelledBy } from '../core/refusal.ts';

/** The kind of a bulk action. */
export type Action = 'resend' | 'cancel';

/** An action on many deliveries of a webhook, and how far it is. */
export interface BulkAction {
  id: number;
  action: Action;
  state: 'running' | 'done' | 'cancelled';
  count: number;
  done: number;
  failed: number;
  createdAt: Date;
}

/** A bulk action that begins: `ids` in their order, and `failed` further ones that it will not do. */
export interface NewBulkAction {
  webhookId: number;
  action: Action;
  ids: readonly number[];
  /** Whether deliveries that are pending no more are not meant any more. */
  asPending: boolean;
  failed: number;
  by: CancelledBy;
}

/** The part of a bulk action's deliveries that one transaction works on. */
export interface BulkBatch {
  action: Action;
  ids: readonly number[];
  asPending: boolean;
  by: CancelledBy;
}

/** The deliveries of a batch: for how many the action was done, for how many it cannot be, and those that are to be tried again. */
export interface BatchResult {
  done: number;
  failed: number;
  busy: readonly number[];
}

// Deliveries that one transaction works on.
const batch = 200;

interface Row {
  id: number;
  action: Action;
  state: BulkAction['state'];
  count: number;
  done: number;
  failed: number;
  created_at: string;
}

const columns = 'id, action, state, count, done, failed, created_at';

const insertStatement = `
  WITH made AS (
    INSERT INTO bulk_actions (account_id, webhook_id, action, selected, as_pending, count, failed, requested_by)
    VALUES ($1, $2, $3, $4, $5, cardinality($4::bigint[]) + $6::integer, $6, $7)
    ON CONFLICT (account_id, webhook_id, action) WHERE state = 'running' DO NOTHING RETURNING id
  )
  SELECT id, true AS is_new FROM made UNION ALL SELECT id, false FROM bulk_actions
  WHERE account_id = $1 AND webhook_id = $2 AND action = $3 AND state = 'running' AND NOT EXISTS (SELECT FROM made)`;

/** Stores a bulk action of a locked webhook; returns its id, or that of another one of the webhook that does the same. */
export async function insertBulkAction(
  sql: Sql,
  accountId: number,
  { webhookId, action, ids, asPending, failed, by }: NewBulkAction,
): Promise<{ id: number; isNew: boolean }> {
  const values = [accountId, webhookId, action, ids, asPending, failed, JSON.stringify(by)];
  const [row] = await sql<{ id: number; is_new: boolean }>(insertStatement, values);
  if (!row) throw new Error('The bulk action was neither made nor found');
  return { id: row.id, isNew: row.is_new };
}

const takeStatement = `
  SELECT action, as_pending, requested_by, selected[position + 1 : position + ${batch}] AS ids FROM bulk_actions
  WHERE account_id = $1 AND id = $2 AND state = 'running' FOR UPDATE SKIP LOCKED`;

/** Locks a running bulk action and returns its next batch; null when it has ended, or another process works on it. */
export async function takeBatch(sql: Sql, accountId: number, id: number): Promise<BulkBatch | null> {
  const [row] = await sql<{ action: Action; as_pending: boolean; requested_by: CancelledBy; ids: string[] }>(
    takeStatement,
    [accountId, id],
  );
  // The elements of arrays are texts.
  return row ? { action: row.action, ids: row.ids.map(Number), asPending: row.as_pending, by: row.requested_by } : null;
}

// After the last delivery of a round, those that were busy are the next one.
const noteStatement = `
  WITH moved AS (
    SELECT id, position + ${batch} >= cardinality(selected) AS is_last, left_over || $5::bigint[] AS left_over
    FROM bulk_actions WHERE account_id = $1 AND id = $2
  )
  UPDATE bulk_actions b SET done = b.done + $3, failed = b.failed + $4,
    position = CASE WHEN is_last THEN 0 ELSE position + ${batch} END,
    selected = CASE WHEN is_last THEN moved.left_over ELSE selected END,
    left_over = CASE WHEN is_last THEN '{}' ELSE moved.left_over END,
    state = CASE WHEN is_last AND moved.left_over = '{}' THEN 'done' ELSE state END
  FROM moved WHERE b.id = moved.id RETURNING NOT is_last AS more`;

/** Notes the result of a batch; returns whether another one can follow at once: what was busy is tried again later. */
export async function noteBatch(
  sql: Sql,
  { accountId, id }: { accountId: number; id: number },
  { done, failed, busy }: BatchResult,
): Promise<boolean> {
  const [row] = await sql<{ more: boolean }>(noteStatement, [accountId, id, done, failed, busy]);
  return row?.more ?? false;
}

const ending = `UPDATE bulk_actions SET state = 'cancelled', selected = '{}', left_over = '{}' WHERE state = 'running'`;

/** Ends the webhook's bulk actions before they have come to all of their deliveries; waits for a batch in progress. */
export async function stopBulkActions(sql: Sql, accountId: number, webhookId: number): Promise<void> {
  await sql(`${ending} AND account_id = $1 AND webhook_id = $2`, [accountId, webhookId]);
}

/** Ends a bulk action, if it is running; waits for a batch in progress. */
export async function stopBulkAction(sql: Sql, accountId: number, id: number): Promise<void> {
  await sql(`${ending} AND account_id = $1 AND id = $2`, [accountId, id]);
}

/** A bulk action of the account's webhook; null when there is none. */
export async function findBulkAction(
  sql: Sql,
  accountId: number,
  { webhookId, id }: { webhookId: number; id: number },
): Promise<BulkAction | null> {
  const text = `SELECT ${columns} FROM bulk_actions WHERE account_id = $1 AND webhook_id = $2 AND id = $3`;
  const [row] = await sql<Row>(text, [accountId, webhookId, id]);
  return row ? toAction(row) : null;
}

/** A bulk action that goes on. */
export interface Running {
  id: number;
  webhookId: number;
  account: { id: number; name: string };
}

const runningStatement = `
  SELECT b.id, b.webhook_id, b.account_id, a.name FROM bulk_actions b JOIN accounts a ON a.id = b.account_id
  WHERE b.state = 'running' AND b.id > $1 ORDER BY b.id LIMIT $2`;

/** Bulk actions that run, after the given id, in the order of their ids. */
export async function findRunning(sql: Sql, { after, limit }: { after: number; limit: number }): Promise<Running[]> {
  const rows = await sql<{ id: number; webhook_id: number; account_id: number; name: string }>(runningStatement, [
    after,
    limit,
  ]);
  return rows.map(({ id, webhook_id: webhookId, account_id: accountId, name }) => ({
    id,
    webhookId,
    account: { id: accountId, name },
  }));
}

const oldStatement = `
  SELECT id FROM bulk_actions WHERE created_at < now() - make_interval(days => $1) AND state <> 'running' AND id > $2
  ORDER BY id LIMIT $3`;

/** Bulk actions that ended and began more than `days` ago, in the order of their ids. */
export function findOldBulkActions(
  sql: Sql,
  days: number,
  { after, limit }: { after: number; limit: number },
): Promise<{ id: number }[]> {
  return sql<{ id: number }>(oldStatement, [days, after, limit]);
}

/** Deletes the bulk actions; returns how many. */
export async function deleteBulkActions(sql: Sql, ids: readonly number[]): Promise<number> {
  return (await sql('DELETE FROM bulk_actions WHERE id = ANY ($1) RETURNING id', [ids])).length;
}

function toAction({ created_at: createdAt, ...row }: Row): BulkAction {
  return { ...row, createdAt: moment(createdAt) };
}
