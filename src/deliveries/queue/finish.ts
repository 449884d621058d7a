import { prepared } from '../../postgres/prepared.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import { storableTextOrNull } from '../../lib/storable.ts';

const maxErrorCodeChars = 100;
const maxRecordedBodyChars = 4096;

/** A lane as it is leased under a token. */
export interface Lease {
  laneId: number;
  token: string;
}

/** How an attempt ended, and what follows for its delivery. */
export interface Finished extends Lease {
  deliveryId: number;
  state: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
  /** Until the next attempt of a pending delivery. */
  delayMs: number;
  status: number | null;
  errorCode: string | null;
  durationMs: number;
  /** The answer, of which the beginning is recorded. */
  responseBody: string | null;
}

const leased = `FROM lanes l JOIN unnest($1::bigint[], $2::uuid[]) AS leased (id, token)
    ON l.id = leased.id AND l.lease_token = leased.token`;
// Global lock order of lanes, as in flushOutbox: any other order can deadlock.
const inOrder = 'ORDER BY l.subject_kind, l.subject_id, l.endpoint_kind, l.endpoint_id FOR UPDATE OF l';
const lockStatement = prepared(`SELECT l.id ${leased} ${inOrder}`);
const lockFreeStatement = prepared(`SELECT l.id ${leased} ${inOrder} SKIP LOCKED`);
const leasedStatement = prepared(`SELECT l.id ${leased}`);

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

// Due again when its head is, but not for so many seconds: a delivery that still holds the lane back hides all behind it.
const releaseStatement = prepared(`
  UPDATE lanes l SET lease_token = NULL, due_at = (
    SELECT min(greatest(d.next_attempt_at, now() + make_interval(secs => $3))) FROM deliveries d WHERE d.lane_id = l.id AND d.state = 'pending' AND d.event_id <= coalesce(
      (SELECT h.event_id FROM deliveries h WHERE h.lane_id = l.id AND h.state = 'pending' AND h.failures < $2
       ORDER BY h.event_id LIMIT 1), d.event_id))
  WHERE l.id = ANY ($1)`);

const extendStatement = prepared('UPDATE lanes SET due_at = now() + make_interval(secs => $2) WHERE id = ANY ($1)');

async function ask(executor: Executor, statement: string, lanes: readonly Lease[]): Promise<Set<number>> {
  const rows = await sql<{ id: number }>(executor, statement, [
    lanes.map(({ laneId }) => laneId),
    lanes.map(({ token }) => token),
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** Which of the leases are locked now, and which are still ours but locked by somebody else; the rest is ours no more. */
async function lockFree<Held extends Lease>(
  executor: Executor,
  leases: readonly Held[],
): Promise<{ locked: number[]; skipped: Held[] }> {
  const locked = await ask(executor, lockFreeStatement, leases);
  const others = leases.filter(({ laneId }) => !locked.has(laneId));
  const ours = others.length > 0 ? await ask(executor, leasedStatement, others) : new Set();
  return { locked: [...locked], skipped: others.filter(({ laneId }) => ours.has(laneId)) };
}

/** A lane whose head was locked is not claimed again at once, or claims would do nothing else while it is. */
const lockedHeadSeconds = 0.25;

/**
 * Gives lanes back that had nothing to deliver, or whose delivery somebody else has locked. Answers those whose rows somebody else has locked: they are as before.
 * Runs in the caller's transaction.
 */
export async function releaseLanes<Held extends Lease>(
  executor: Executor,
  lanes: readonly Held[],
  holdAttempts: number,
): Promise<Held[]> {
  const { locked, skipped } = await lockFree(executor, lanes);
  if (locked.length > 0) await sql(executor, releaseStatement, [locked, holdAttempts, lockedHeadSeconds]);
  return skipped;
}

/**
 * Lets leases last for so many seconds from now, 0 to end them; one that somebody else has meanwhile is left alone.
 * Answers those whose rows somebody else has locked: they are as before. Runs in the caller's transaction.
 */
export async function extendLeases<Held extends Lease>(
  executor: Executor,
  leases: readonly Held[],
  seconds: number,
): Promise<Held[]> {
  const { locked, skipped } = await lockFree(executor, leases);
  if (locked.length > 0) await sql(executor, extendStatement, [locked, seconds]);
  return skipped;
}

/**
 * Writes how deliveries ended, with an attempt row each, and gives their lanes back; answers the ids it wrote. One
 * whose lease somebody else has meanwhile is left alone; for a row that is locked it waits. Runs in the caller's
 * transaction: the lanes stay locked to its end, so that no event can slip in unseen between the look at what remains
 * and the commit.
 */
export async function finishDeliveries(
  executor: Executor,
  results: readonly Finished[],
  holdAttempts: number,
): Promise<number[]> {
  return write(executor, results, { locked: await ask(executor, lockStatement, results), holdAttempts });
}

/** Like finishDeliveries, without waiting: answers those that it left because somebody else has their lanes locked. */
export async function finishFreeDeliveries<Result extends Finished>(
  executor: Executor,
  results: readonly Result[],
  holdAttempts: number,
): Promise<Result[]> {
  const { locked, skipped } = await lockFree(executor, results);
  await write(executor, results, { locked: new Set(locked), holdAttempts });
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
    current.map(({ responseBody }) => storableTextOrNull(responseBody, maxRecordedBodyChars)),
  ]);
  await sql(executor, releaseStatement, [[...locked], holdAttempts, 0]);
  return rows.map(({ id }) => id);
}
