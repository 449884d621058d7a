import { momentOrNull, sql, type Executor } from '../../postgres/sql.ts';
import type { Endpoint } from '../core/endpoint.ts';

/** How the last attempts on an endpoint went, and what waits for it. */
export interface RecentAttempts {
  /** Attempts that ended with a result, of the endpoint's newest deliveries. */
  attempts: number;
  succeeded: number;
  /** Milliseconds of those that were answered; null when none was. */
  p50: number | null;
  p95: number | null;
  pending: number;
  /** When the oldest pending delivery was created; null when none is pending. */
  oldestPendingAt: Date | null;
}

interface Row {
  attempts: number;
  succeeded: number;
  p50: number | null;
  p95: number | null;
}

/** The newest deliveries of the endpoint whose attempts are looked at. */
const maxDeliveries = 1000;

const attemptsStatement = `
  SELECT count(*)::int AS attempts, count(*) FILTER (WHERE a.outcome = 'delivered')::int AS succeeded,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.status IS NOT NULL) AS p50,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.status IS NOT NULL) AS p95
  FROM (SELECT id FROM deliveries WHERE account_id = $1 AND endpoint_kind = $2 AND endpoint_id = $3
    ORDER BY created_at DESC, id DESC LIMIT ${maxDeliveries}) d
  CROSS JOIN LATERAL (SELECT outcome, duration_ms, status FROM attempts
    WHERE account_id = $1 AND delivery_id = d.id AND outcome <> 'unknown' AND duration_ms > 0 OFFSET 0) a`;

const pendingStatement = `
  SELECT count(*)::int AS pending, min(d.created_at) AS oldest FROM lanes l
  JOIN deliveries d ON d.lane_id = l.id AND d.state = 'pending'
  WHERE l.account_id = $1 AND l.endpoint_kind = $2 AND l.endpoint_id = $3 AND l.due_at IS NOT NULL`;

/** Looks at the account's newest deliveries to the endpoint, and at all that are pending. */
export async function lookAtAttempts(
  executor: Executor,
  accountId: number,
  { kind, id }: Endpoint,
): Promise<RecentAttempts> {
  const scope = [accountId, kind, id];
  const [recent] = await sql<Row>(executor, attemptsStatement, scope);
  const [waiting] = await sql<{ pending: number; oldest: string | null }>(executor, pendingStatement, scope);
  const { attempts = 0, succeeded = 0, p50 = null, p95 = null } = recent ?? {};
  const pending = waiting?.pending ?? 0;
  return { attempts, succeeded, p50, p95, pending, oldestPendingAt: momentOrNull(waiting?.oldest ?? null) };
}
