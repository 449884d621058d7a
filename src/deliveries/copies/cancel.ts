import type { Sql } from '../../postgres/sql.ts';
import type { CancelledBy, CancelReason } from '../core/refusal.ts';
import { isPreparing } from './recovery-lanes.ts';

// Skips lanes that are leased, whose deliveries the engine ends, and those whose recovery still collects, which must not become
// due by a cancellation. The statements after it read the deliveries under the locks of their lanes.
const lockStatement = `
  SELECT l.id FROM lanes l WHERE l.account_id = $1 AND l.id IN (
    SELECT d.lane_id FROM deliveries d WHERE d.account_id = $1 AND d.id = ANY ($2) AND d.state = 'pending')
    AND l.lease_token IS NULL AND NOT EXISTS (
      SELECT FROM recoveries r WHERE l.side < 0 AND r.account_id = l.account_id AND r.id = -l.side AND r.${isPreparing})
  FOR UPDATE OF l SKIP LOCKED`;

const cancelStatement = `
  UPDATE deliveries d SET state = 'cancelled', last_error = $4, cancelled_by = $5, finished_at = now()
  WHERE d.account_id = $1 AND d.id = ANY ($2) AND d.lane_id = ANY ($3) AND d.state = 'pending' AND d.lease_token IS NULL
  RETURNING d.id`;

// Due when the next of its deliveries is; a lane without any is not due any more.
const dueStatement = `
  UPDATE lanes l SET due_at = (
    SELECT min(greatest(d.next_attempt_at, now())) FROM deliveries d WHERE d.lane_id = l.id AND d.state = 'pending')
  WHERE l.id = ANY ($1)`;

const pendingStatement = `SELECT id FROM deliveries WHERE account_id = $1 AND id = ANY ($2) AND state = 'pending'`;

/**
 * Cancels those of the account's deliveries that wait; what waited behind them in their lanes becomes due. Returns how many were
 * cancelled, and those that are pending still, because they are in progress or somebody else has locked them.
 */
export async function cancelDeliveries(
  sql: Sql,
  accountId: number,
  { ids, reason, by }: { ids: readonly number[]; reason: CancelReason; by: CancelledBy },
): Promise<{ cancelled: number; busy: number[] }> {
  const lanes = (await sql<{ id: number }>(lockStatement, [accountId, ids])).map(({ id }) => id);
  const cancelled = await sql(cancelStatement, [accountId, ids, lanes, reason, JSON.stringify(by)]);
  await sql(dueStatement, [lanes]);
  const busy = await sql<{ id: number }>(pendingStatement, [accountId, ids]);
  return { cancelled: cancelled.length, busy: busy.map(({ id }) => id) };
}
