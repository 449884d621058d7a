import { momentOrNull, type Sql } from '../../postgres/sql.ts';
import type { Endpoint } from '../core/endpoint.ts';
import { anySide } from '../lanes/side-lanes.ts';

/** Pending deliveries of an endpoint. */
export interface Waiting {
  /** Deliveries that are pending, those in progress included; 100,000 where there are more. */
  pending: number;
  /** When the oldest of them was created; null when none is pending. */
  oldestPendingAt: Date | null;
}

/** Results of the last attempts on an endpoint, and its pending deliveries. */
export interface RecentAttempts extends Waiting {
  /** Attempts that ended with a result, of the endpoint's newest deliveries. */
  attempts: number;
  succeeded: number;
  /** Milliseconds of answered attempts; null when none was answered. */
  p50: number | null;
  p95: number | null;
  /** Milliseconds of failed attempts, timeouts included; null when none failed. */
  failedP95: number | null;
}

interface Row {
  attempts: number;
  succeeded: number;
  p50: number | null;
  p95: number | null;
  failed_p95: number | null;
}

/** The newest deliveries of the endpoint, and of their attempts, that are looked at. */
const newest = 1000;

// Leaves out deliveries that ended without an attempt; 0 ms with wire data is an answer within half a millisecond.
const attemptsStatement = `
  SELECT count(*)::int AS attempts, count(*) FILTER (WHERE a.outcome = 'delivered')::int AS succeeded,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.status IS NOT NULL) AS p50,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.status IS NOT NULL) AS p95,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.outcome <> 'delivered') AS failed_p95
  FROM (SELECT a.* FROM (SELECT id FROM deliveries WHERE account_id = $1 AND endpoint_kind = $2 AND endpoint_id = $3
    ORDER BY created_at DESC, id DESC LIMIT ${newest}) d
  CROSS JOIN LATERAL (SELECT id, outcome, duration_ms, status FROM attempts
    WHERE account_id = $1 AND delivery_id = d.id AND outcome <> 'unknown' AND (wire IS NOT NULL OR duration_ms > 0) OFFSET 0) a
  ORDER BY a.id DESC LIMIT ${newest}) a`;

/** Pending deliveries that are counted. */
const maxWaiting = 100_000;

// Oldest first in each lane, which includes the oldest of all. Every pending delivery is in a lane that is due.
const waitingStatement = `
  SELECT count(*)::int AS pending, min(created_at) AS oldest FROM (
    SELECT d.created_at FROM lanes l CROSS JOIN LATERAL (
      SELECT created_at FROM deliveries WHERE lane_id = l.id AND state = 'pending' ORDER BY event_id LIMIT ${maxWaiting}) d
    WHERE l.account_id = $1 AND l.endpoint_kind = $2 AND l.${anySide} AND l.endpoint_id = $3 AND l.due_at IS NOT NULL
    LIMIT ${maxWaiting}) waiting`;

const failingStatement = `
  SELECT count(*)::int AS failing FROM (SELECT FROM deliveries WHERE account_id = $1 AND endpoint_kind = $2 AND endpoint_id = $3
    AND state = 'pending' AND failures > 0 LIMIT ${maxWaiting}) failing`;

/** Counts the account's deliveries to the endpoint that have failed and are tried again; 100,000 where there are more. */
export async function countFailing(sql: Sql, accountId: number, { kind, id }: Endpoint): Promise<number> {
  const [row] = await sql<{ failing: number }>(failingStatement, [accountId, kind, id]);
  return row?.failing ?? 0;
}

/** Reads the account's pending deliveries to the endpoint. */
export async function lookAtWaiting(sql: Sql, accountId: number, { kind, id }: Endpoint): Promise<Waiting> {
  const [row] = await sql<{ pending: number; oldest: string | null }>(waitingStatement, [accountId, kind, id]);
  return { pending: row?.pending ?? 0, oldestPendingAt: momentOrNull(row?.oldest ?? null) };
}

/** Reads the account's newest deliveries to the endpoint, and the pending ones. */
export async function lookAtAttempts(sql: Sql, accountId: number, endpoint: Endpoint): Promise<RecentAttempts> {
  const [recent] = await sql<Row>(attemptsStatement, [accountId, endpoint.kind, endpoint.id]);
  const { attempts = 0, succeeded = 0, p50 = null, p95 = null, failed_p95: failedP95 = null } = recent ?? {};
  return { attempts, succeeded, p50, p95, failedP95, ...(await lookAtWaiting(sql, accountId, endpoint)) };
}
