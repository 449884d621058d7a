import { moment, momentOrNull, type Sql } from '../../postgres/sql.ts';
import { anySide } from '../lanes/side-lanes.ts';

/** An endpoint of an account, and the deliveries that wait for it. */
export interface Backlog {
  accountId: number;
  endpoint: { type: 'webhook' | 'agent_bot' | 'automation' | 'inbox'; id: number };
  /** Deliveries that are pending, those in progress included, as far as they are counted. */
  pending: number;
  /** When the oldest of them was created. */
  oldestPendingAt: Date;
  consecutiveFailures: number;
  failingSince: Date | null;
  /** When the open circuit tries again; null for a closed one. */
  circuitProbeAt: Date | null;
}

interface Row {
  account_id: number;
  type: Backlog['endpoint']['type'];
  id: number;
  pending: number;
  oldest: string;
  consecutive_failures: number | null;
  failing_since: string | null;
  circuit_probe_at: string | null;
}

/** Bounds of a look: lanes and deliveries that are counted, endpoints that are told. */
const [maxLanes, maxOfLane, maxCounted, maxTold] = [20_000, 1_000, 200_000, 100];

// Every pending delivery is in a lane that is due. The lanes of channels name the row that an inbox owns.
const statement = `
  WITH waiting AS (
    SELECT account_id, endpoint_kind, endpoint_id, count(*)::int AS pending, min(created_at) AS oldest FROM (
      SELECT l.account_id, l.endpoint_kind, l.endpoint_id, d.created_at
      FROM (SELECT id, account_id, endpoint_kind, endpoint_id FROM lanes
        WHERE endpoint_kind = ANY ('{webhook,bot,automation,channel}') AND ${anySide} AND due_at IS NOT NULL
        LIMIT ${maxLanes}) l
      CROSS JOIN LATERAL (SELECT created_at FROM deliveries
        WHERE lane_id = l.id AND state = 'pending' ORDER BY event_id LIMIT ${maxOfLane}) d
      LIMIT ${maxCounted}) counted
    GROUP BY account_id, endpoint_kind, endpoint_id ORDER BY oldest LIMIT ${maxTold}
  )
  SELECT w.account_id, w.pending, w.oldest,
    CASE w.endpoint_kind WHEN 'bot' THEN 'agent_bot' WHEN 'channel' THEN 'inbox' ELSE w.endpoint_kind END AS type,
    CASE w.endpoint_kind WHEN 'channel' THEN coalesce(b.inbox_ids[1], w.endpoint_id) ELSE w.endpoint_id END AS id,
    coalesce(h.consecutive_failures, b.consecutive_failures) AS consecutive_failures,
    coalesce(h.failing_since, b.failing_since) AS failing_since,
    coalesce(h.circuit_probe_at, b.circuit_probe_at) AS circuit_probe_at
  FROM waiting w
  LEFT JOIN webhooks h ON w.endpoint_kind = 'webhook' AND h.account_id = w.account_id AND h.id = w.endpoint_id
  LEFT JOIN agent_bots b ON w.endpoint_kind <> 'webhook' AND b.id = w.endpoint_id
    AND (b.account_id = w.account_id OR b.account_id IS NULL)
  ORDER BY w.oldest, w.account_id, type, id`;

/**
 * Reads what waits in all accounts, by endpoint, the longest wait first: the first 100, as far as 20,000 lanes and 200,000
 * deliveries show it.
 */
export async function readBacklogs(sql: Sql): Promise<Backlog[]> {
  return (await sql<Row>(statement)).map((row) => ({
    accountId: row.account_id,
    endpoint: { type: row.type, id: row.id },
    pending: row.pending,
    oldestPendingAt: moment(row.oldest),
    consecutiveFailures: row.consecutive_failures ?? 0,
    failingSince: momentOrNull(row.failing_since),
    circuitProbeAt: momentOrNull(row.circuit_probe_at),
  }));
}
