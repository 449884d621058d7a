import { prepared } from '../../postgres/prepared.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import { storableTextOrNull } from '../../lib/storable.ts';
import type { Verdict } from '../core/verdict.ts';
import { dueAfterFinish } from './hold.ts';
import { lockLeased, type Lease } from './lease.ts';
import { laneOrder } from './lock-order.ts';

const maxErrorCodeChars = 100;
const maxKeptBodyChars = 4096;

/** The result of an attempt, for its delivery and lane. */
export interface Finished extends Lease, Verdict {
  deliveryId: number;
}

/** The result of an attempt on a claimed delivery. */
export function finishedWith(
  { deliveryId, laneId, token }: Lease & { deliveryId: number },
  verdict: Verdict,
): Finished {
  return { ...verdict, deliveryId, laneId, token };
}

// The whole is one statement, so that no trip is made under the lanes' locks. A lane that another transaction changed
// after the snapshot was taken (its version differs) may have got a delivery that the statement cannot see: it is left as it
// is, like a locked one, and written by another statement. Whoever enqueues into a lane changes its row.
const finishStatement = prepared(`
  WITH result AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::float8[], $6::int[], $7::text[], $8::int[],
      $9::text[]) AS r (lane_id, id, token, state, delay_ms, status, error_code, duration_ms, response_body)
  ), seen AS MATERIALIZED (
    SELECT l.id, l.ctid AS version FROM result r JOIN lanes l ON l.id = r.lane_id AND l.lease_token = r.token
  ), locked AS MATERIALIZED (
    SELECT l.id, l.ctid AS version FROM lanes l WHERE l.id = ANY ($1) AND l.lease_token = ANY ($3)
    ORDER BY ${laneOrder('l')} FOR UPDATE SKIP LOCKED
  ), free AS MATERIALIZED (
    SELECT seen.id FROM seen JOIN locked ON locked.id = seen.id AND locked.version = seen.version
  ), finished AS (
    UPDATE deliveries d SET state = r.state, lease_token = NULL, last_status = r.status, last_error = r.error_code,
      claims = 0, failures = d.failures + CASE r.state WHEN 'delivered' THEN 0 ELSE 1 END,
      next_attempt_at = now() + make_interval(secs => r.delay_ms / 1000.0),
      finished_at = CASE WHEN r.state <> 'pending' THEN now() END
    FROM free JOIN result r ON r.lane_id = free.id
    WHERE d.id = r.id AND d.lease_token = r.token AND d.state = 'pending'
    RETURNING d.account_id, d.id, d.lane_id, d.event_id, d.attempt, d.failures, d.next_attempt_at, d.state, r.status,
      r.error_code, r.duration_ms, r.response_body
  ), logged AS (
    INSERT INTO attempts (account_id, delivery_id, number, outcome, status, error_code, duration_ms, response_body)
    SELECT account_id, id, attempt, CASE state WHEN 'delivered' THEN 'delivered' ELSE 'failed' END, status, error_code,
      duration_ms, response_body
    FROM finished
  ), released AS (
    UPDATE lanes SET lease_token = NULL, due_at = due.at
    FROM (
      SELECT lane_id, id, event_id, state, failures, next_attempt_at FROM finished
      UNION ALL SELECT free.id, NULL, NULL, NULL, NULL, NULL FROM free
      WHERE free.id <> ALL (ARRAY(SELECT lane_id FROM finished))) f
    CROSS JOIN LATERAL ${dueAfterFinish('$10')} due
    WHERE lanes.id = f.lane_id RETURNING lanes.id, f.id AS delivery_id, lanes.due_at <= now() AS is_due
  )
  SELECT id AS lane_id, delivery_id, true AS is_released, coalesce(is_due, false) AS is_due FROM released
  UNION ALL SELECT id, NULL, false, false FROM seen WHERE id <> ALL (ARRAY(SELECT id FROM free))`);

/** What became of a result whose lease was still held. */
export interface Written {
  laneId: number;
  /** Null when the delivery is no longer claimed under the lease. */
  deliveryId: number | null;
  /** False when the lane was locked or just changed by another transaction: nothing is written. */
  isReleased: boolean;
  /** Whether the lane has another delivery that is due. */
  isDue: boolean;
}

interface WrittenRow {
  lane_id: number;
  delivery_id: number | null;
  is_released: boolean;
  is_due: boolean;
}

/**
 * Writes results with an attempt row each, and gives the lanes back; results whose lease is lost are left out. Does not
 * wait: a lane that another transaction has locked stays as it is.
 */
export async function finishFreeDeliveries(
  executor: Executor,
  results: readonly Finished[],
  holdAttempts: number,
): Promise<Written[]> {
  const rows = await sql<WrittenRow>(executor, finishStatement, [
    results.map(({ laneId }) => laneId),
    results.map(({ deliveryId }) => deliveryId),
    results.map(({ token }) => token),
    results.map(({ state }) => state),
    results.map(({ delayMs }) => delayMs),
    results.map(({ status }) => status),
    results.map(({ errorCode }) => storableTextOrNull(errorCode, maxErrorCodeChars)),
    results.map(({ durationMs }) => Math.round(durationMs)),
    results.map(({ responseBody }) => storableTextOrNull(responseBody, maxKeptBodyChars)),
    holdAttempts,
  ]);
  return rows.map((row) => ({
    laneId: row.lane_id,
    deliveryId: row.delivery_id,
    isReleased: row.is_released,
    isDue: row.is_due,
  }));
}

/**
 * Like finishFreeDeliveries, but waits for locked rows; returns the ids of the written deliveries. Runs in the caller's
 * transaction: the lanes stay locked until its end.
 */
export async function finishDeliveries(
  executor: Executor,
  results: readonly Finished[],
  holdAttempts: number,
): Promise<number[]> {
  // One round trip: the second statement is run when the first has the locks.
  const [, written] = await Promise.all([
    lockLeased(executor, results),
    finishFreeDeliveries(executor, results, holdAttempts),
  ]);
  return written.flatMap(({ deliveryId }) => deliveryId ?? []);
}

/** The delivery is no longer this process's: another process has taken it over, or it was deleted. */
export class StaleDelivery extends Error {}

/**
 * Settles a delivery: writes its result in the transaction of everything that follows from the result. Throws StaleDelivery,
 * which rolls that transaction back, when the delivery is no longer this process's.
 */
export async function settleDelivery(executor: Executor, finished: Finished, holdAttempts: number): Promise<void> {
  const written = await finishDeliveries(executor, [finished], holdAttempts);
  if (written.length === 0) throw new StaleDelivery();
}

/** Runs a transaction that settles a delivery; false when StaleDelivery rolled it back. */
export async function unlessStale(transaction: () => Promise<void>): Promise<boolean> {
  try {
    await transaction();
    return true;
  } catch (error) {
    if (!(error instanceof StaleDelivery)) throw error;
    return false;
  }
}
