import { arrayParameter, type ElementType } from '../../postgres/array-parameter.ts';
import { isStaleDelivery } from '../../postgres/errors.ts';
import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Statement } from '../../postgres/sql-transaction.ts';
import { storableTextOrNull } from '../../lib/text/storable.ts';
import { continuesCode, type Verdict } from '../core/verdict.ts';
import { taking, takenRows, toClaimed, type Claimed, type HeadRow } from './claim.ts';
import { headColumns } from './head-columns.ts';
import { dueAfterFinish, nextAfterDelivered } from './hold.ts';
import { lockLeased, type Lease } from './lease.ts';
import { laneOrder } from './lock-order.ts';
import { wireJson } from './wire-json.ts';

const maxErrorCodeChars = 100;
const maxKeptBodyChars = 16_384;
// The types of the parameters that say a result.
const valueTypes: readonly ElementType[] = [
  'bigint',
  'bigint',
  'uuid',
  'text',
  'float8',
  'int',
  'text',
  'int',
  'text',
  'text',
];

/** The result of an attempt, for its delivery and lane. */
export interface Finished extends Lease, Verdict {
  deliveryId: number;
  /** Whether the process makes the lane's next delivery at once, under the same lease. */
  goesOn?: boolean;
}

/** The result of an attempt on a claimed delivery. */
export function finishedWith(
  { deliveryId, laneId, token }: Lease & { deliveryId: number },
  verdict: Verdict,
): Finished {
  return { ...verdict, deliveryId, laneId, token };
}

// A delivery that was in progress when its endpoint's deliveries were cancelled ends at its claim, by the same cause. One of an
// event whose commit still saw the webhook switched on is too new for that cancellation.
const cancelledBy = `coalesce(
        (SELECT t.cancelled_by FROM backlog_tasks t WHERE t.account_id = d.account_id AND t.endpoint_kind = d.endpoint_kind
          AND t.endpoint_id = d.endpoint_id AND t.task = 'cancel' AND t.through >= d.id),
        (SELECT w.disabled_by FROM webhooks w
          WHERE d.endpoint_kind = 'webhook' AND w.account_id = d.account_id AND w.id = d.endpoint_id),
        CASE r.error_code WHEN 'endpoint_gone' THEN '{"kind":"webhook_deleted"}'::jsonb END)`;

// Writes the deliveries in `result` whose lanes are in `free`. `going` are expressions that take the next deliveries of
// some lanes, and `released` is a condition for the other lanes.
// now() is the beginning of the transaction: what came into a lane after it, and is seen, is due by the clock alone. Who wrote it
// has called already, while the lane was leased.
const expressions = ({ going = '', released = '' } = {}): string => `
  finished AS (
    UPDATE deliveries d SET lease_token = NULL, last_status = r.status, last_error = r.error_code,
      claims = 0, failures = d.failures + CASE WHEN r.state = 'delivered' OR r.error_code = '${continuesCode}' THEN 0 ELSE 1 END,
      next_attempt_at = now() + make_interval(secs => r.delay_ms / 1000.0),
      state = CASE WHEN d.is_answered THEN 'delivered' ELSE r.state END,
      cancelled_by = CASE WHEN r.state = 'cancelled' AND NOT d.is_answered THEN ${cancelledBy} END,
      finished_at = CASE WHEN r.state <> 'pending' OR d.is_answered THEN now() END
    FROM free JOIN result r ON r.lane_id = free.id AND r.token = free.token
    WHERE d.id = r.id AND d.lease_token = r.token AND d.state = 'pending'
    RETURNING d.account_id, d.id, d.lane_id, d.event_id, d.trigger, d.attempt, d.failures, d.next_attempt_at, d.state,
      r.state AS outcome, r.status, r.error_code, r.duration_ms, r.response_body, r.wire, d.endpoint_kind, d.endpoint_id, r.token,
      r.goes_on, free.leased_until
  ), logged AS (
    INSERT INTO attempts (account_id, delivery_id, number, outcome, status, error_code, duration_ms, response_body,
      wire)
    SELECT account_id, id, attempt, CASE outcome WHEN 'delivered' THEN 'delivered' ELSE 'failed' END, status, error_code,
      duration_ms, response_body, wire::json
    FROM finished
  ), given_up AS (
    INSERT INTO exhausted_deliveries (account_id, webhook_id, delivery_id) SELECT account_id, endpoint_id, id FROM finished
    WHERE state = 'exhausted' AND endpoint_kind = 'webhook' AND trigger <> 'test'
  ), ${going} released AS (
    UPDATE lanes SET lease_token = NULL, due_at = due.at
    FROM (
      SELECT lane_id, token, id, event_id, state, failures, next_attempt_at FROM finished ${released}
      UNION ALL SELECT free.id, free.token, NULL, NULL, NULL, NULL, NULL FROM free
      WHERE free.id <> ALL (ARRAY(SELECT lane_id FROM finished))) f
    CROSS JOIN LATERAL ${dueAfterFinish('$11')} due
    WHERE lanes.id = f.lane_id
    RETURNING lanes.id, f.token, f.id AS delivery_id, coalesce(lanes.due_at <= clock_timestamp(), false) AS is_due
  )`;

// The whole is one statement, so that no trip is made under the lanes' locks. A lane that another transaction changed
// after the snapshot was taken (its version differs) may have got a delivery that the statement cannot see: it is left as it
// is, like a locked one, and written by another statement. Whoever enqueues into a lane changes its row.
const freeOf = `
  WITH result AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::float8[], $6::int[], $7::text[], $8::int[],
      $9::text[], $10::text[], $12::boolean[])
      AS r (lane_id, id, token, state, delay_ms, status, error_code, duration_ms, response_body, wire, goes_on)
  ), seen AS MATERIALIZED (
    SELECT l.id, r.token, l.ctid AS version FROM result r JOIN lanes l ON l.id = r.lane_id AND l.lease_token = r.token
  ), locked AS MATERIALIZED (
    SELECT l.id, l.due_at AS leased_until, l.ctid AS version FROM lanes l WHERE l.id = ANY ($1) AND l.lease_token = ANY ($3)
    ORDER BY ${laneOrder('l')} FOR UPDATE SKIP LOCKED
  ), free AS MATERIALIZED (
    SELECT seen.id, seen.token, locked.leased_until FROM seen JOIN locked ON locked.id = seen.id AND locked.version = seen.version
  )`;

const answering = (none: string): string => `
  SELECT id AS written_lane, token AS written_token, delivery_id, true AS is_released, is_due ${none} FROM released
  UNION ALL SELECT id, token, NULL, false, false ${none} FROM seen WHERE id <> ALL (ARRAY(SELECT id FROM free))`;

const finishStatement = prepared(`${freeOf}, ${expressions()} ${answering('')}`);

// An endpoint whose circuit has opened gets its next delivery by a probe, one with a rate by a claim, and one that is paused gets none. What a plugin is
// to run is claimed, with all that a run needs. A lease that an outage kept from being renewed may end before the next renewal
// comes, and another process would make the delivery too: such a lane is given back.
const next = `
  head AS MATERIALIZED (
    SELECT d.id, d.attempt, d.lease_token AS left_behind, f.token, f.id AS finished_id
    FROM finished f CROSS JOIN LATERAL ${nextAfterDelivered('$11')} next
    CROSS JOIN LATERAL (
      SELECT * FROM deliveries d WHERE d.id = next.id AND d.state = 'pending' FOR NO KEY UPDATE SKIP LOCKED) d
    WHERE f.goes_on AND f.outcome = 'delivered' AND f.leased_until > now() + make_interval(secs => $13) AND CASE f.endpoint_kind
      WHEN 'webhook' THEN (SELECT coalesce(w.circuit_probe_at, w.paused_at, CASE WHEN w.max_per_second IS NOT NULL THEN now() END) FROM webhooks w WHERE w.id = f.endpoint_id)
      ELSE (SELECT coalesce(b.circuit_probe_at, b.paused_at, CASE WHEN b.kind <> 'webhook' AND NOT d.forwarded THEN now() END)
        FROM agent_bots b WHERE b.id = f.endpoint_id) END IS NULL
  ), ${taking('finished_id', 'token')},`;
const untaken = 'WHERE lane_id <> ALL (ARRAY(SELECT lane_id FROM taken))';
const goOnStatement = prepared(`${freeOf}, ${expressions({ going: next, released: untaken })}
  SELECT lane_id AS written_lane, token AS written_token, finished_id AS delivery_id, true AS is_released, true AS is_due, ${takenRows()}
  UNION ALL ${answering(`, ${headColumns.map(() => 'NULL').join(', ')}`)}`);

/** The outcome of writing a result whose lease was still held. */
export interface Written extends Lease {
  /** Null when the delivery is no longer claimed under the lease. */
  deliveryId: number | null;
  /** False when the lane was locked or just changed by another transaction: nothing is written. */
  isReleased: boolean;
  /** Whether the lane has another delivery that is due. */
  isDue: boolean;
}

interface WrittenRow {
  written_lane: number;
  written_token: string;
  delivery_id: number | null;
  is_released: boolean;
  is_due: boolean;
}

/** The columns of the next delivery are null where the lane has none. */
type GoingOnRow = WrittenRow & { [Column in keyof HeadRow]: HeadRow[Column] | null };

function valuesOf(finished: Finished) {
  const { laneId, deliveryId, token, state, delayMs, status, errorCode, durationMs, responseBody, wire } = finished;
  return [
    laneId,
    deliveryId,
    token,
    state,
    delayMs,
    status,
    storableTextOrNull(errorCode, maxErrorCodeChars),
    Math.round(durationMs),
    storableTextOrNull(responseBody, maxKeptBodyChars),
    wireJson(wire),
  ] as const;
}

/**
 * Writes results with an attempt row each, and gives the lanes back; results whose lease is lost are left out. Does not
 * wait: a lane that another transaction has locked stays as it is.
 */
export async function finishFreeDeliveries(
  sql: Sql,
  results: readonly Finished[],
  holdAttempts: number,
): Promise<Written[]> {
  const rows = await sql<WrittenRow>(finishStatement, parametersOf(results, holdAttempts));
  return rows.map(toWritten);
}

/**
 * Like finishFreeDeliveries; but a lane that goes on, and whose delivery was delivered, keeps its lease when another one is
 * due: `next`. Not when the lease lasts less than `leaseSeconds` from now.
 */
export async function finishAndGoOn(
  sql: Sql,
  results: readonly Finished[],
  { holdAttempts, leaseSeconds }: { holdAttempts: number; leaseSeconds: number },
): Promise<(Written & { next: Claimed | null })[]> {
  const rows = await sql<GoingOnRow>(goOnStatement, [...parametersOf(results, holdAttempts), leaseSeconds]);
  return rows.map((row) => ({
    ...toWritten(row),
    next: row.id === null ? null : toClaimed(row as HeadRow, row.written_token),
  }));
}

function parametersOf(results: readonly Finished[], holdAttempts: number): unknown[] {
  const values = results.map(valuesOf);
  const columns = valueTypes.map((type, index) =>
    arrayParameter(
      type,
      values.map((row) => row[index]),
    ),
  );
  return [...columns, holdAttempts, results.map(({ goesOn }) => goesOn ?? false)];
}

function toWritten(row: WrittenRow): Written {
  return {
    laneId: row.written_lane,
    token: row.written_token,
    deliveryId: row.delivery_id,
    isReleased: row.is_released,
    isDue: row.is_due,
  };
}

/**
 * Like finishFreeDeliveries, but waits for locked rows; returns the ids of the written deliveries. Runs in the caller's
 * transaction: the lanes stay locked until its end.
 */
export async function finishDeliveries(
  sql: Sql,
  results: readonly Finished[],
  holdAttempts: number,
): Promise<number[]> {
  // Pipelined in one round trip: the second statement runs when the first has the locks.
  const [, written] = await Promise.all([lockLeased(sql, results), finishFreeDeliveries(sql, results, holdAttempts)]);
  return written.flatMap(({ deliveryId }) => deliveryId ?? []);
}

/** The delivery is no longer this process's: another process has taken it over, or it was deleted. */
export class StaleDelivery extends Error {}

const lockStatement = prepared('SELECT FROM lanes WHERE id = $1 AND lease_token = $2 FOR UPDATE');
// The lane is locked, and the snapshot younger than the lock.
const settleStatement = prepared(`
  WITH result AS MATERIALIZED (
    SELECT $1::bigint AS lane_id, $2::bigint AS id, $3::uuid AS token, $4::text AS state, $5::float8 AS delay_ms,
      $6::int AS status, $7::text AS error_code, $8::int AS duration_ms, $9::text AS response_body, $10::text AS wire,
      false AS goes_on
  ), free AS MATERIALIZED (
    SELECT l.id, l.lease_token AS token, l.due_at AS leased_until FROM lanes l WHERE l.id = $1 AND l.lease_token = $3
  ), ${expressions()}
  SELECT coalesce(bool_or(is_due), refuse_stale_delivery()) AS is_due FROM released WHERE delivery_id IS NOT NULL`);

/** Takes statements to be sent with the commit of a transaction. */
export interface Committing {
  atCommit(statement: Statement & { answered?: (rows: { is_due: boolean }[]) => void }): void;
}

/**
 * Settles a delivery: its result is written with the commit of everything that follows from the result. When the delivery is
 * no longer this process's, that commit fails, for `unlessStale`. `settled` is told whether the lane has another delivery
 * that is due.
 */
export function settleDelivery(
  tx: Committing,
  finished: Finished,
  holdAttempts: number,
  settled?: (isDue: boolean) => void,
): void {
  tx.atCommit({ text: lockStatement, parameters: [finished.laneId, finished.token] });
  tx.atCommit({
    text: settleStatement,
    parameters: [...valuesOf(finished), holdAttempts],
    answered: ([row]) => settled?.(row?.is_due ?? false),
  });
}

/** Runs a transaction that settles a delivery; false when it was rolled back, because the delivery is stale. */
export async function unlessStale(transaction: () => Promise<void>): Promise<boolean> {
  try {
    await transaction();
    return true;
  } catch (error) {
    if (!(error instanceof StaleDelivery) && !isStaleDelivery(error)) throw error;
    return false;
  }
}
