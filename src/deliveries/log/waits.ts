import type { OutboundGate } from '../../lib/outbound-gate.ts';
import { momentOrNull, type Sql } from '../../postgres/sql.ts';
import { leavesService } from '../lanes/leaving.ts';
import { isPreparing } from '../copies/recovery-lanes.ts';
import { allowedByRateAt } from '../lanes/rates.ts';
import type { LoggedDelivery } from './log.ts';

/** Reason for which a pending delivery is not attempted now; `until` is null where nobody knows the end. */
export interface Wait {
  reason: 'outbound' | 'delivery' | 'circuit' | 'paused' | 'rate' | 'recovery' | 'schedule';
  /** The older delivery of the conversation that holds this one back. */
  deliveryId: number | null;
  until: Date | null;
}

type Listed = Pick<LoggedDelivery, 'id' | 'nextAttemptAt'>;

/** The deliveries of an account, and what holds them besides their rows. */
interface WaitsOf {
  accountId: number;
  deliveries: readonly Listed[];
  holdAttempts: number;
  gate: OutboundGate;
}

interface WaitRow {
  id: number;
  reason: Wait['reason'];
  holder_id: number | null;
  until: string | null;
}

// While the gate is held, nothing else matters. A pause is somebody's wish and comes next; behind it, an older delivery says more
// than the circuit that holds both.
const statement = `
  SELECT d.id, wait.reason, CASE wait.reason WHEN 'delivery' THEN holder.id END AS holder_id, wait.until
  FROM unnest($2::bigint[]) AS wanted (id)
  JOIN deliveries d ON d.account_id = $1 AND d.id = wanted.id AND d.state = 'pending' AND ($4 OR d.lease_token IS NULL)
  JOIN lanes l ON l.account_id = d.account_id AND l.id = d.lane_id
  LEFT JOIN LATERAL (
    SELECT paused_at, circuit_probe_at, ${allowedByRateAt('w')} AS allowed_at, ${leavesService.webhook('w')} AS leaves FROM webhooks w
    WHERE d.endpoint_kind = 'webhook' AND w.account_id = d.account_id AND w.id = d.endpoint_id
    UNION ALL
    SELECT paused_at, circuit_probe_at, NULL, ${leavesService.bot('b')} FROM agent_bots b WHERE d.endpoint_kind <> 'webhook' AND b.id = d.endpoint_id) endpoint ON true
  LEFT JOIN LATERAL (
    SELECT h.id, h.next_attempt_at FROM deliveries h
    WHERE h.lane_id = l.id AND h.state = 'pending' AND h.failures < $3 AND h.event_id < d.event_id
    ORDER BY h.event_id LIMIT 1) holder ON true
  LEFT JOIN recoveries r ON l.side < 0 AND r.account_id = l.account_id AND r.id = -l.side AND r.${isPreparing}
  CROSS JOIN LATERAL (SELECT * FROM (VALUES
    (0, 'outbound', $4 AND endpoint.leaves, NULL),
    (1, 'paused', endpoint.paused_at IS NOT NULL, NULL),
    (2, 'recovery', r.id IS NOT NULL, NULL),
    (3, 'delivery', holder.id IS NOT NULL, CASE WHEN holder.next_attempt_at > now() THEN holder.next_attempt_at END),
    (4, 'circuit', endpoint.circuit_probe_at IS NOT NULL, greatest(endpoint.circuit_probe_at, now())),
    (5, 'schedule', d.next_attempt_at > now(), d.next_attempt_at),
    (6, 'rate', endpoint.allowed_at > now(), endpoint.allowed_at)
  ) AS known (place, reason, holds, until) WHERE holds ORDER BY place LIMIT 1) wait`;

/** Returns what those of the account's deliveries wait for that wait, by their ids; `holdAttempts` failures hold a lane no more. */
export async function findWaits(
  sql: Sql,
  { accountId, deliveries, holdAttempts, gate }: WaitsOf,
): Promise<ReadonlyMap<number, Wait>> {
  const ids = deliveries.flatMap(({ id, nextAttemptAt }) => (nextAttemptAt ? [id] : []));
  if (ids.length === 0) return new Map();
  const rows = await sql<WaitRow>(statement, [accountId, ids, holdAttempts, gate.heldFor !== null]);
  return new Map(
    rows.map(({ id, reason, holder_id: deliveryId, until }) => [
      id,
      { reason, deliveryId, until: momentOrNull(until) },
    ]),
  );
}
