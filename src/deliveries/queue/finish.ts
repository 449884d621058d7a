import { prepared } from '../../postgres/prepared.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import { storableTextOrNull } from '../../lib/storable.ts';
import type { Verdict } from '../core/verdict.ts';
import { lockFree, lockLeased, releaseLocked, type Lease } from './lease.ts';

const maxErrorCodeChars = 100;
const maxKeptBodyChars = 4096;

/** The result of an attempt, for its delivery and lane. */
export interface Finished extends Lease, Verdict {
  deliveryId: number;
}

/** The result of an attempt on a claimed delivery. */
export function finishedWith(claimed: Lease & { deliveryId: number }, verdict: Verdict): Finished {
  const { deliveryId, laneId, token } = claimed;
  const { state, delayMs, status, errorCode, durationMs, responseBody } = verdict;
  return { deliveryId, laneId, token, state, delayMs, status, errorCode, durationMs, responseBody };
}

const finishStatement = prepared(`
  WITH finished AS (
    UPDATE deliveries d SET state = f.state, lease_token = NULL, last_status = f.status, last_error = f.error_code,
      claims = 0, failures = d.failures + CASE f.state WHEN 'delivered' THEN 0 ELSE 1 END,
      next_attempt_at = now() + make_interval(secs => f.delay_ms / 1000.0),
      finished_at = CASE WHEN f.state <> 'pending' THEN now() END
    FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::float8[], $5::int[], $6::text[], $7::int[], $8::text[])
      AS f (id, token, state, delay_ms, status, error_code, duration_ms, response_body)
    WHERE d.id = f.id AND d.lease_token = f.token AND d.state = 'pending'
    RETURNING d.account_id, d.id, d.attempt, f.state, f.status, f.error_code, f.duration_ms, f.response_body
  ), logged AS (
    INSERT INTO attempts (account_id, delivery_id, number, outcome, status, error_code, duration_ms, response_body)
    SELECT account_id, id, attempt, CASE state WHEN 'delivered' THEN 'delivered' ELSE 'failed' END, status, error_code,
      duration_ms, response_body
    FROM finished
  )
  SELECT id FROM finished`);

/**
 * Writes results with an attempt row each, and gives the lanes back; returns the ids of the written deliveries. Skips
 * results whose lease is lost; waits for locked rows. Runs in the caller's transaction: the lanes stay locked until its
 * end, so that no event can be enqueued unseen between the look at what is pending and the commit.
 */
export async function finishDeliveries(
  executor: Executor,
  results: readonly Finished[],
  holdAttempts: number,
): Promise<number[]> {
  return write(executor, results, { locked: await lockLeased(executor, results), holdAttempts });
}

/** Like finishDeliveries, without waiting: returns the results that it skipped because their lanes are locked. */
export async function finishFreeDeliveries<Result extends Finished>(
  executor: Executor,
  results: readonly Result[],
  holdAttempts: number,
): Promise<Result[]> {
  const { locked, skipped } = await lockFree(executor, results);
  await write(executor, results, { locked, holdAttempts });
  return skipped;
}

async function write(
  executor: Executor,
  results: readonly Finished[],
  { locked, holdAttempts }: { locked: ReadonlySet<number>; holdAttempts: number },
): Promise<number[]> {
  const current = results.filter(({ laneId }) => locked.has(laneId));
  if (current.length === 0) return [];
  const rows = await sql<{ id: number }>(executor, finishStatement, [
    current.map(({ deliveryId }) => deliveryId),
    current.map(({ token }) => token),
    current.map(({ state }) => state),
    current.map(({ delayMs }) => delayMs),
    current.map(({ status }) => status),
    current.map(({ errorCode }) => storableTextOrNull(errorCode, maxErrorCodeChars)),
    current.map(({ durationMs }) => Math.round(durationMs)),
    current.map(({ responseBody }) => storableTextOrNull(responseBody, maxKeptBodyChars)),
  ]);
  await releaseLocked(executor, locked, { holdAttempts, notBeforeSeconds: 0 });
  return rows.map(({ id }) => id);
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
