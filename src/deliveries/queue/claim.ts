import { prepared } from '../../postgres/prepared.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import type { EndpointKind } from '../core/endpoint.ts';
import type { Trigger } from '../core/trigger.ts';
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
  /** Why it is sent: see Trigger. */
  trigger: Trigger;
  event: { id: number; name: string; conversationId: number | null; depth: number; isTest: boolean };
  /** The body to deliver, byte for byte. */
  body: string;
  endpoint: {
    kind: EndpointKind;
    id: number;
    /** Whether the event is for a plugin to handle; false for one that its plugin has forwarded. */
    runs: boolean;
    /** Null for bots without a server, and for endpoints that are deleted or switched off. */
    url: string | null;
    sealedSecret: string | null;
    /** The previous secret, while both sign. */
    previousSealedSecret: string | null;
    /** Why the service calls a bot's server no more; null for all others. */
    disabledReason: string | null;
  };
}

/** A row of `takenRows`. */
export interface HeadRow {
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
  trigger: Trigger;
  is_test: boolean;
  body: string;
  endpoint_kind: EndpointKind;
  endpoint_id: number;
  runs: boolean | null;
  url: string | null;
  secret: string | null;
  previous_secret: string | null;
  disabled_reason: string | null;
}

/**
 * SQL expressions that take the locked deliveries of `head` (`id`, `attempt`, `left_behind`, `token`): the expression `taken`
 * has them from then on, with `kept` of the head. A head that still had a lease token was left behind by a process that died:
 * its outcome is not known, so its attempt is kept as 'unknown'.
 */
export const taking = (...kept: readonly string[]): string => `
  unknown_attempts AS (
    INSERT INTO attempts (account_id, delivery_id, number, outcome, error_code)
    SELECT d.account_id, d.id, d.attempt, 'unknown', 'lease_expired'
    FROM head JOIN deliveries d ON d.id = head.id WHERE head.left_behind IS NOT NULL
  ), taken AS (
    UPDATE deliveries d SET attempt = d.attempt + 1, claims = d.claims + 1, lease_token = head.token
    FROM head WHERE d.id = head.id AND d.state = 'pending'
    RETURNING ${[...takenColumns.map((name) => `d.${name}`), ...kept.map((name) => `head.${name}`)].join(', ')}
  )`;

const takenColumns = [
  'id',
  'lane_id',
  'attempt',
  'failures',
  'claims',
  'trigger',
  'account_id',
  'event_id',
  'endpoint_kind',
  'endpoint_id',
  'forwarded',
];
const readColumns = [
  'account_name',
  'event_name',
  'conversation_id',
  'depth',
  'is_test',
  'body',
  'url',
  'secret',
  'previous_secret',
  'disabled_reason',
  'runs',
];

/** The columns of `takenRows`. */
export const headColumns = [...takenColumns, ...readColumns];

/** SQL after SELECT: what is to be delivered, of `taken` as `d`. */
export const takenRows = `${headColumns.join(', ')}
  FROM (SELECT d.*, a.name AS account_name FROM taken d JOIN accounts a ON a.id = d.account_id) d
  CROSS JOIN LATERAL (
    SELECT e.name AS event_name, e.conversation_id, e.depth, e.is_test,
      (CASE d.endpoint_kind WHEN 'bot' THEN e.bot_payload ELSE e.account_payload END)::text AS body
    FROM events e WHERE e.id = d.event_id AND e.account_id + 0 = d.account_id) e
  LEFT JOIN LATERAL (
    SELECT CASE WHEN w.active AND d.id > coalesce((SELECT t.through FROM backlog_tasks t WHERE t.account_id = d.account_id
        AND t.endpoint_kind = 'webhook' AND t.endpoint_id = d.endpoint_id AND t.task = 'cancel'), 0) THEN w.url END AS url,
      w.secret, CASE WHEN w.previous_secret_expires_at > now() THEN w.previous_secret END AS previous_secret,
      NULL AS disabled_reason, false AS runs
    FROM webhooks w WHERE d.endpoint_kind = 'webhook' AND w.account_id = d.account_id AND w.id = d.endpoint_id
    UNION ALL
    SELECT b.outgoing_url, b.secret, CASE WHEN b.previous_secret_expires_at > now() THEN b.previous_secret END,
      b.disabled_reason, b.kind = 'plugin' AND NOT d.forwarded
    FROM agent_bots b WHERE d.endpoint_kind = 'bot' AND b.id = d.endpoint_id) endpoint ON true`;

// The head of a lane is its oldest due delivery that no older one holds back (hold.ts). A locked head is skipped, and no later
// delivery of its lane is taken instead. FOR NO KEY UPDATE re-reads the locked row, so a head that was cancelled meanwhile is
// skipped as well.
// Heads are locked, and events found, one by one by their ids: joined, they would be found by whatever the planner thinks of
// tables that it has no statistics of yet, and its plan stays.
const headStatement = prepared(`
  WITH head AS MATERIALIZED (
    SELECT d.id, d.attempt, d.lease_token AS left_behind, $2::uuid AS token
    FROM lanes l CROSS JOIN LATERAL (
      SELECT d.id FROM deliveries d
      WHERE d.lane_id = l.id AND d.state = 'pending' AND d.next_attempt_at <= now() AND ${isNotHeldBack('$3')}
      ORDER BY d.event_id LIMIT 1) oldest
    CROSS JOIN LATERAL (
      SELECT * FROM deliveries d WHERE d.id = oldest.id AND d.state = 'pending' FOR NO KEY UPDATE SKIP LOCKED) d
    WHERE l.id = ANY ($1) AND l.lease_token = $2
  ), ${taking()} SELECT ${takenRows}`);

/** Takes the head of each leased lane, if it is free. A lane is held by failed attempts below `holdAttempts`. */
export async function takeHeads(
  executor: Executor,
  { laneIds, token, holdAttempts }: { laneIds: readonly number[]; token: string; holdAttempts: number },
): Promise<Claimed[]> {
  const rows = await sql<HeadRow>(executor, headStatement, [laneIds, token, holdAttempts]);
  return rows.map((row) => toClaimed(row, token));
}

/** A delivery of a row of `takenRows`. */
export function toClaimed(row: HeadRow, token: string): Claimed {
  return {
    deliveryId: row.id,
    laneId: row.lane_id,
    token,
    attempt: row.attempt,
    failures: row.failures,
    claims: row.claims,
    account: { id: row.account_id, name: row.account_name },
    trigger: row.trigger,
    event: {
      id: row.event_id,
      name: row.event_name,
      conversationId: row.conversation_id,
      depth: row.depth,
      isTest: row.is_test,
    },
    body: row.body,
    endpoint: {
      kind: row.endpoint_kind,
      id: row.endpoint_id,
      runs: row.runs ?? false,
      url: row.url,
      sealedSecret: row.secret,
      previousSealedSecret: row.previous_secret,
      disabledReason: row.disabled_reason,
    },
  };
}
