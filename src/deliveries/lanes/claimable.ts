import { botPatienceSeconds } from '../core/retry.ts';
import { pausedSince } from './resting-channels.ts';

const patience = `interval '${botPatienceSeconds} seconds'`;

/**
 * SQL of the lanes that the engine may claim now, and since when (`since`), by the rules of due-endpoints.ts: none of a paused
 * endpoint, none of a webhook whose circuit is open, those of a bot behind an open circuit after the patience of its customers.
 * A webhook with a rate is claimed whenever its bucket is not full. Lanes of deleted endpoints are claimed, too, so that their deliveries end.
 */
export const claimableLanes = `
  SELECT l.id, l.account_id, l.endpoint_kind, l.endpoint_id, may.since
  FROM lanes l LEFT JOIN (
    SELECT 'webhook' AS kind, id, circuit_probe_at, paused_at, resumed_at, (
      SELECT full_at FROM webhook_rates r
      WHERE w.max_per_second IS NOT NULL AND r.account_id = w.account_id AND r.webhook_id = w.id) AS full_at FROM webhooks w
    UNION ALL SELECT CASE WHEN kind IN ('automation', 'channel') THEN kind ELSE 'bot' END, id, circuit_probe_at, ${pausedSince('agent_bots')},
      resumed_at, NULL FROM agent_bots
  ) s ON s.kind = l.endpoint_kind AND s.id = l.endpoint_id
  CROSS JOIN LATERAL (SELECT greatest(l.due_at, s.resumed_at, s.full_at, CASE
    WHEN l.endpoint_kind = 'bot' AND s.circuit_probe_at > now() THEN greatest(l.due_at, s.resumed_at) + ${patience}
    ELSE s.circuit_probe_at END) AS since) may
  WHERE l.due_at <= now() AND s.paused_at IS NULL AND may.since <= now()`;
