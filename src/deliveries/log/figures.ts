import type { Sql } from '../../postgres/sql.ts';
import { claimableLanes } from '../lanes/claimable.ts';

/** The state of a webhook, the first that applies. */
type WebhookState = 'disabled' | 'paused' | 'circuit_open' | 'failing' | 'ok';

/** How much waits to be delivered, over all accounts. */
export interface BacklogFigures {
  pending: number;
  /** Age of the oldest delivery that has not ended; 0 without one. */
  oldestSeconds: number;
  /** How long the lane that may be claimed, and whose endpoint is not being served, has waited; 0 when none waits. */
  lagSeconds: number;
  /** How many webhooks there are in each state. */
  webhooks: Record<WebhookState, number>;
}

// A lane of an endpoint that is being served waits for the receiver, not for the engine.
const lag = `
  WITH served AS (
    SELECT DISTINCT account_id, endpoint_kind, endpoint_id FROM lanes WHERE lease_token IS NOT NULL AND due_at > now()
  )
  SELECT extract(epoch FROM now() - min(c.since))::float8 FROM (${claimableLanes}) c WHERE NOT EXISTS (
    SELECT FROM served s WHERE s.account_id = c.account_id AND s.endpoint_kind = c.endpoint_kind AND s.endpoint_id = c.endpoint_id)`;

const backlogStatement = `
  SELECT count(*) AS pending, coalesce(extract(epoch FROM now() - min(d.created_at)), 0)::float8 AS oldest,
    coalesce((${lag}), 0) AS lag
  FROM deliveries d WHERE d.state = 'pending'`;

const webhooksStatement = `
  SELECT count(*) FILTER (WHERE state = 'disabled')::int AS disabled, count(*) FILTER (WHERE state = 'paused')::int AS paused,
    count(*) FILTER (WHERE state = 'circuit_open')::int AS circuit_open, count(*) FILTER (WHERE state = 'failing')::int AS failing,
    count(*) FILTER (WHERE state = 'ok')::int AS ok
  FROM (SELECT CASE WHEN NOT active THEN 'disabled' WHEN paused_at IS NOT NULL THEN 'paused'
    WHEN circuit_probe_at IS NOT NULL THEN 'circuit_open' WHEN failing_since IS NOT NULL THEN 'failing' ELSE 'ok' END AS state
    FROM webhooks) w`;

/** Reads how much waits to be delivered, from the indexes of what waits, and the states of webhooks. */
export async function readBacklogFigures(sql: Sql): Promise<BacklogFigures> {
  const [[row], [webhooks]] = await Promise.all([
    sql<{ pending: number; oldest: number; lag: number }>(backlogStatement),
    sql<BacklogFigures['webhooks']>(webhooksStatement),
  ]);
  if (!row || !webhooks) throw new Error('The figures were not read');
  return { pending: row.pending, oldestSeconds: row.oldest, lagSeconds: row.lag, webhooks };
}
