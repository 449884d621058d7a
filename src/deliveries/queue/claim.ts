import { prepared } from '../../postgres/prepared.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import type { EndpointKind } from '../core/endpoint.ts';
import { isNotHeldBack } from './hold.ts';

/** A delivery that only this process may make now: its lane is leased under `token`. */
export interface Claimed {
  deliveryId: number;
  laneId: number;
  token: string;
  /** The number of the attempt, from 1; attempts with an unknown end count too. */
  attempt: number;
  /** Earlier attempts that ended with a result: the delivery's place in its schedule. */
  failures: number;
  /** Claims since the last written result, this one included. */
  claims: number;
  account: { id: number; name: string };
  event: { id: number; name: string; conversationId: number | null; depth: number };
  /** The body to deliver, byte for byte. */
  body: string;
  endpoint: {
    kind: EndpointKind;
    id: number;
    /** Null for plugin bots, and for endpoints that are deleted or switched off. */
    url: string | null;
    sealedSecret: string | null;
    /** The previous secret, while both sign. */
    previousSealedSecret: string | null;
    /** Why the service calls a bot's server no more; null for all others. */
    disabledReason: string | null;
  };
}

interface HeadRow {
  id: number;
  lane_id: number;
  attempt: number;
  failures: number;
  claims: number;
  account_id: number;
  account_name: string;
  event_id: number;
  event_name: string;
  conversation_id: number | null;
  depth: number;
  body: string;
  endpoint_kind: EndpointKind;
  endpoint_id: number;
  url: string | null;
  secret: string | null;
  previous_secret: string | null;
  disabled_reason: string | null;
}

// The head of a lane is its oldest due delivery that no older one holds back (hold.ts). A head that still has a lease token
// was left behind by a process that died: its outcome is not known, so its attempt is kept as 'unknown'. A locked head is
// skipped, and no later delivery of its lane is taken instead. FOR NO KEY UPDATE re-reads the locked row, so a head that
// was cancelled meanwhile is skipped as well.
const headStatement = prepared(`
  WITH oldest AS (
    SELECT d.id FROM lanes l CROSS JOIN LATERAL (
      SELECT d.id FROM deliveries d
      WHERE d.lane_id = l.id AND d.state = 'pending' AND d.next_attempt_at <= now() AND ${isNotHeldBack('$3')}
      ORDER BY d.event_id LIMIT 1) d
    WHERE l.id = ANY ($1) AND l.lease_token = $2
  ), head AS (
    SELECT id, attempt, lease_token AS left_behind FROM deliveries
    WHERE id = ANY (ARRAY(SELECT id FROM oldest)) AND state = 'pending' ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
  ), unknown_attempts AS (
    INSERT INTO attempts (account_id, delivery_id, number, outcome, error_code)
    SELECT d.account_id, d.id, d.attempt, 'unknown', 'lease_expired'
    FROM head JOIN deliveries d ON d.id = head.id WHERE head.left_behind IS NOT NULL
  )
  UPDATE deliveries d SET attempt = d.attempt + 1, claims = d.claims + 1, lease_token = $2
  FROM head, events e, accounts a
  WHERE d.id = head.id AND d.state = 'pending' AND e.account_id = d.account_id AND e.id = d.event_id AND a.id = d.account_id
  RETURNING d.id, d.lane_id, d.attempt, d.failures, d.claims, d.account_id, a.name AS account_name, d.event_id,
    e.name AS event_name, e.conversation_id, e.depth, (CASE d.endpoint_kind WHEN 'bot' THEN e.bot_payload ELSE e.account_payload END)::text AS body,
    d.endpoint_kind, d.endpoint_id,
    CASE d.endpoint_kind WHEN 'bot' THEN (SELECT outgoing_url FROM agent_bots WHERE id = d.endpoint_id)
      ELSE (SELECT url FROM webhooks WHERE account_id = d.account_id AND id = d.endpoint_id AND active
        AND d.id > coalesce((SELECT t.through FROM backlog_tasks t WHERE t.account_id = d.account_id
          AND t.endpoint_kind = 'webhook' AND t.endpoint_id = d.endpoint_id AND t.task = 'cancel'), 0)) END AS url,
    CASE d.endpoint_kind WHEN 'bot' THEN (SELECT secret FROM agent_bots WHERE id = d.endpoint_id)
      ELSE (SELECT secret FROM webhooks WHERE account_id = d.account_id AND id = d.endpoint_id) END AS secret,
    CASE d.endpoint_kind WHEN 'bot'
      THEN (SELECT previous_secret FROM agent_bots WHERE id = d.endpoint_id AND previous_secret_expires_at > now())
      ELSE (SELECT previous_secret FROM webhooks WHERE account_id = d.account_id AND id = d.endpoint_id
        AND previous_secret_expires_at > now()) END AS previous_secret,
    CASE d.endpoint_kind WHEN 'bot' THEN (SELECT disabled_reason FROM agent_bots WHERE id = d.endpoint_id) END AS disabled_reason`);

/** Takes the head of each leased lane, if it is free. A lane is held by failed attempts below `holdAttempts`. */
export async function takeHeads(
  executor: Executor,
  { laneIds, token, holdAttempts }: { laneIds: readonly number[]; token: string; holdAttempts: number },
): Promise<Claimed[]> {
  const rows = await sql<HeadRow>(executor, headStatement, [laneIds, token, holdAttempts]);
  return rows.map((row) => ({
    deliveryId: row.id,
    laneId: row.lane_id,
    token,
    attempt: row.attempt,
    failures: row.failures,
    claims: row.claims,
    account: { id: row.account_id, name: row.account_name },
    event: { id: row.event_id, name: row.event_name, conversationId: row.conversation_id, depth: row.depth },
    body: row.body,
    endpoint: {
      kind: row.endpoint_kind,
      id: row.endpoint_id,
      url: row.url,
      sealedSecret: row.secret,
      previousSealedSecret: row.previous_secret,
      disabledReason: row.disabled_reason,
    },
  }));
}
