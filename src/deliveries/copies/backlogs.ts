import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Endpoint } from '../core/endpoint.ts';
import type { CancelledBy, CancelReason } from '../core/refusal.ts';
import { stopBulkActions } from './bulk-actions.ts';
import { stopRecoveries } from './recover.ts';
import { anySide } from '../lanes/side-lanes.ts';
import { wakeLanes } from '../lanes/wake.ts';

// Deliveries and lanes that one transaction changes, so that it neither lasts nor locks for long.
const batch = 1000;

// A newer cancellation replaces an unfinished older one. Ordered, the newest delivery is found in its index: whether there is
// any at all might be looked for in the whole table.
const noteCancelStatement = prepared(`
  INSERT INTO backlog_tasks AS known (account_id, endpoint_kind, endpoint_id, task, through, reason, cancelled_by)
  SELECT $1, $2, $3, 'cancel', (SELECT last_value FROM deliveries_id_seq), $4, $5
  WHERE (SELECT id FROM deliveries WHERE account_id = $1 AND endpoint_kind = $2 AND endpoint_id = $3
    ORDER BY created_at DESC, id DESC LIMIT 1) IS NOT NULL
  ON CONFLICT (account_id, endpoint_kind, endpoint_id, task) DO UPDATE
    SET through = greatest(known.through, excluded.through), reason = excluded.reason,
      cancelled_by = excluded.cancelled_by
  RETURNING id`);

const noteWakeStatement = prepared(`
  INSERT INTO backlog_tasks (account_id, endpoint_kind, endpoint_id, task)
  SELECT DISTINCT account_id, $1, $2::bigint, 'wake' FROM lanes
  WHERE endpoint_kind = $1 AND ${anySide} AND endpoint_id = $2 AND due_at > now() ORDER BY account_id
  ON CONFLICT (account_id, endpoint_kind, endpoint_id, task) DO UPDATE SET task = excluded.task
  RETURNING id`);

const lockTaskStatement = prepared(`
  SELECT id, account_id, endpoint_kind, endpoint_id, task, through, reason, cancelled_by FROM backlog_tasks WHERE id = $1
  FOR UPDATE SKIP LOCKED`);

/** SQL of the lanes that have something to cancel, a row for each delivery, so many of a lane at most. */
const waiting = (most: number): string => `lanes l CROSS JOIN LATERAL (
    SELECT FROM deliveries d WHERE d.lane_id = l.id AND d.state = 'pending' AND d.id <= $4 LIMIT ${most}) d
  WHERE l.account_id = $1 AND l.endpoint_kind = $2 AND l.${anySide} AND l.endpoint_id = $3 AND l.due_at IS NOT NULL`;

// Skip leased lanes: the engine ends what it has claimed, and waiting for its lock could deadlock. No more lanes are locked than
// hold the deliveries of the batch: whoever sends one of them something meanwhile waits.
const lockStatement = prepared(`
  WITH wanted AS MATERIALIZED (
    SELECT DISTINCT w.id FROM (SELECT l.id FROM ${waiting(batch)} AND l.lease_token IS NULL LIMIT ${batch}) w
  )
  SELECT l.id FROM lanes l WHERE l.id = ANY (ARRAY(SELECT id FROM wanted)) AND l.lease_token IS NULL
  FOR UPDATE SKIP LOCKED`);

// A statement of its own, whose snapshot is younger than the locks: it sees deliveries that came into the lanes just before, for
// which they stay due. A lane without pending deliveries is not due any more. The rows stay, with the reason, so that
// deliveries cancelled because the webhook was switched off can be told apart and resent.
const cancelStatement = prepared(`
  WITH old AS MATERIALIZED (
    SELECT d.id FROM unnest($1::bigint[]) AS free (id) CROSS JOIN LATERAL (
      SELECT d.id FROM deliveries d WHERE d.lane_id = free.id AND d.state = 'pending' AND d.id <= $2
      LIMIT ${batch} FOR UPDATE SKIP LOCKED) d LIMIT ${batch}
  ), cancelled AS (
    UPDATE deliveries d SET state = 'cancelled', last_error = $3, cancelled_by = $4, lease_token = NULL, finished_at = now()
    WHERE d.id = ANY (ARRAY(SELECT id FROM old)) RETURNING d.id
  ), emptied AS (
    UPDATE lanes l SET due_at = (SELECT min(d.next_attempt_at) FROM deliveries d
      WHERE d.lane_id = l.id AND d.state = 'pending' AND d.id NOT IN (SELECT id FROM cancelled))
    WHERE l.id = ANY ($1)
  )
  SELECT count(*)::int AS cancelled FROM cancelled`);

const leftStatement = prepared(`SELECT FROM ${waiting(1)} LIMIT 1`);

interface Task {
  id: number;
  account_id: number;
  endpoint_kind: Endpoint['kind'];
  endpoint_id: number;
  task: 'cancel' | 'wake';
  through: number | null;
  reason: CancelReason | null;
  cancelled_by: CancelledBy | null;
}

/** A task after a batch; `open` while the rest of it is locked or leased. */
type Progress = 'more' | 'open' | 'done';

/**
 * Does one batch of a task, and deletes the task after the last; true when another batch can follow at once. Runs in the
 * caller's transaction.
 */
export async function workOnBacklog(sql: Sql, taskId: number): Promise<boolean> {
  const [task] = await sql<Task>(lockTaskStatement, [taskId]);
  if (!task) return false;
  const progress = await (task.task === 'cancel' ? cancelSome : wakeSome)(sql, task);
  if (progress === 'done') await sql('DELETE FROM backlog_tasks WHERE id = $1', [task.id]);
  return progress === 'more';
}

async function cancelSome(sql: Sql, task: Task): Promise<Progress> {
  const scope = [task.account_id, task.endpoint_kind, task.endpoint_id, task.through];
  const lanes = (await sql<{ id: number }>(lockStatement, scope)).map(({ id }) => id);
  const cancelled = await cancelIn(sql, lanes, task);
  if (cancelled === batch) return 'more';
  if ((await sql(leftStatement, scope)).length === 0) return 'done';
  return cancelled > 0 ? 'more' : 'open';
}

async function cancelIn(sql: Sql, lanes: readonly number[], { through, reason, ...task }: Task): Promise<number> {
  if (lanes.length === 0) return 0;
  const by = task.cancelled_by && JSON.stringify(task.cancelled_by);
  const [made] = await sql<{ cancelled: number }>(cancelStatement, [lanes, through, reason, by]);
  return made?.cancelled ?? 0;
}

async function wakeSome(sql: Sql, task: Task): Promise<Progress> {
  const endpoint = { kind: task.endpoint_kind, id: task.endpoint_id, accountId: task.account_id };
  return (await wakeLanes(sql, endpoint)) ? 'more' : 'done';
}

async function begin(sql: Sql, tasks: readonly { id: number }[]): Promise<void> {
  // A system bot that moved has a task per account; only the first gets its first batch now.
  const [first] = tasks;
  if (first) await workOnBacklog(sql, first.id);
}

/**
 * Cancels the account's pending deliveries to an endpoint: a first batch in the caller's transaction, which switches the
 * endpoint off; the sweep cancels the rest. None of them is sent meanwhile, even if the endpoint is switched on again. A
 * recovery that still collects stops, and so do bulk actions: what they would make now is not wanted either.
 */
export async function cancelBacklog(
  { sql, account }: { sql: Sql; account: { id: number } },
  { kind, id }: Endpoint,
  reason: CancelReason,
  by: CancelledBy,
): Promise<void> {
  await stopRecoveries(sql, account.id, { kind, id });
  if (kind === 'webhook') await stopBulkActions(sql, account.id, id);
  await begin(sql, await sql<{ id: number }>(noteCancelStatement, [account.id, kind, id, reason, JSON.stringify(by)]));
}

/**
 * Makes the deliveries that wait for an endpoint's next attempt due, because it has another address: a first batch in the
 * caller's transaction, which changes the address; the sweep wakes the rest.
 */
export async function wakeBacklog(sql: Sql, { kind, id }: Endpoint): Promise<void> {
  await begin(sql, await sql<{ id: number }>(noteWakeStatement, [kind, id]));
}

/**
 * SQL condition: the account has a pending delivery to the endpoint that no task is to cancel. `kind` is plain text, the
 * ids are SQL expressions.
 */
export const isOwed = ({ kind, id, accountId }: { kind: Endpoint['kind']; id: string; accountId: string }): string =>
  `EXISTS (SELECT FROM deliveries WHERE account_id = ${accountId} AND endpoint_kind = '${kind}' AND endpoint_id = ${id}
    AND state = 'pending' AND id > coalesce((SELECT through FROM backlog_tasks t WHERE t.account_id = ${accountId}
      AND t.endpoint_kind = '${kind}' AND t.endpoint_id = ${id} AND t.task = 'cancel'), 0))`;

/** An unfinished task. */
export interface Unfinished {
  id: number;
  account: { id: number; name: string };
}

/** Unfinished tasks after the given id, in the order of their ids. */
export async function findUnfinished(
  sql: Sql,
  { after, limit }: { after: number; limit: number },
): Promise<Unfinished[]> {
  const rows = await sql<{ id: number; account_id: number; account_name: string }>(
    `SELECT t.id, t.account_id, a.name AS account_name FROM backlog_tasks t JOIN accounts a ON a.id = t.account_id
     WHERE t.id > $1 ORDER BY t.id LIMIT $2`,
    [after, limit],
  );
  return rows.map((row) => ({ id: row.id, account: { id: row.account_id, name: row.account_name } }));
}
