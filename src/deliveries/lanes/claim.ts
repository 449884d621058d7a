import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { DueLanes, EndpointKind, EndpointOfAccount } from '../core/endpoint.ts';
import { botPatienceSeconds } from '../core/retry.ts';
import type { SealedAuth, SealedHeader } from '../core/credentials.ts';
import type { CancelReason } from '../core/refusal.ts';
import type { Share } from '../core/slots.ts';
import type { Trigger } from '../core/trigger.ts';
import { bodyOf } from './bodies.ts';
import { headColumns, takenColumns } from './head-columns.ts';
import { isNotHeldBack } from './hold.ts';
import { leavesService } from './leaving.ts';
import { lockingBuckets, orRate, sharesWithin, spendingTokens } from './rates.ts';
import { olderSecretsOf } from './older-secrets.ts';
import { pausedSince } from './resting-channels.ts';

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
  /** The body to deliver, byte for byte: that of runs, and of servers that want no other. */
  body: string;
  /** The body that the endpoint's server gets instead, in its format; null for the default. */
  formatted: string | null;
  endpoint: {
    kind: EndpointKind;
    id: number;
    /** Whether the event is for a plugin to handle; false for one that its plugin has forwarded. */
    runs: boolean;
    /** Null for bots without a server, and for endpoints that are deleted or switched off. */
    url: string | null;
    sealedSecret: string | null;
    /** The secrets before it that still sign, newest first. */
    olderSealedSecrets: readonly string[];
    /** Why this delivery is to be cancelled instead of sent; null for all others. */
    cancelReason: CancelReason | null;
    /** Why the service calls a bot's server no more; null for all others. */
    disabledReason: string | null;
    /** Whether the last attempt succeeded; null for plugin bots. */
    isProven: boolean | null;
    /** Headers and authentication of a webhook. */
    headers: readonly SealedHeader[];
    auth: SealedAuth | null;
  };
  /** The row that `claiming` read along with the claim. */
  beside: unknown;
}

/** How many lanes to lease of each endpoint, under which token; those due longest come first. */
interface ClaimBounds {
  shares: readonly Share[];
  leaseSeconds: number;
  token: string;
  /** A lane is held by failed attempts below this number. */
  holdAttempts: number;
  /** Whether nothing may leave the service. */
  isHeld: boolean;
}

/** A lane that has just been leased, and its endpoint. */
interface LeasedLane {
  laneId: number;
  endpoint: EndpointOfAccount;
}

/** The heads of due lanes; and lanes that are leased too, but have nothing to deliver or a locked head. */
export interface Claim {
  heads: Claimed[];
  idle: LeasedLane[];
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
  formatted: string | null;
  endpoint_kind: EndpointKind;
  endpoint_id: number;
  runs: boolean | null;
  url: string | null;
  secret: string | null;
  older_secrets: readonly string[] | null;
  cancel_reason: CancelReason | null;
  disabled_reason: string | null;
  is_proven: boolean | null;
  headers: SealedHeader[] | null;
  auth: SealedAuth | null;
  beside: unknown;
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

/** SQL after SELECT: what is to be delivered, of `taken` as `d`; `beside` is SQL of `d`, its event `e` and its bot `p`. */
export const takenRows = (beside = 'NULL::json'): string => `${headColumns.join(', ')}
  FROM (SELECT d.*, a.name AS account_name FROM taken d JOIN accounts a ON a.id = d.account_id) d
  CROSS JOIN LATERAL (
    SELECT e.name AS event_name, e.conversation_id, e.depth, e.is_test,
      ${bodyOf('d', 'e')}::text AS body,
      CASE WHEN d.format IS NOT NULL THEN coalesce(e.chatwoot_payload, ${bodyOf('d', 'e')})::text END AS formatted
    FROM events e WHERE e.id = d.event_id AND e.account_id + 0 = d.account_id) e
  LEFT JOIN LATERAL (
    SELECT CASE WHEN w.active THEN w.url END AS url, w.secret,
      ${olderSecretsOf('w')} AS older_secrets,
      NULL AS disabled_reason, false AS runs,
      w.is_proven, w.headers, w.auth, NULL::json AS beside
    FROM webhooks w WHERE d.endpoint_kind = 'webhook' AND w.account_id = d.account_id AND w.id = d.endpoint_id
    UNION ALL
    SELECT p.outgoing_url, p.secret, ${olderSecretsOf('p')},
      p.disabled_reason, p.kind <> 'webhook' AND NOT d.forwarded, CASE p.kind WHEN 'webhook' THEN p.is_proven END,
      NULL, NULL, ${beside}
    FROM agent_bots p WHERE d.endpoint_kind <> 'webhook' AND p.id = d.endpoint_id) endpoint ON true
  LEFT JOIN LATERAL (
    SELECT t.reason AS cancel_reason FROM backlog_tasks t WHERE t.account_id = d.account_id
      AND t.endpoint_kind = d.endpoint_kind AND t.endpoint_id = d.endpoint_id AND t.task = 'cancel' AND t.through >= d.id
  ) cancellation ON true`;

/** Leases due lanes and takes their heads, in one statement. */
export type ClaimDue = (sql: Sql, bounds: ClaimBounds) => Promise<Claim>;

/** The same with the gate as it is at that moment. */
export type ClaimUnlessHeld = (sql: Sql, bounds: Omit<ClaimBounds, 'isHeld'>) => Promise<Claim>;

/** The columns are null where the lane has no head; these are not. */
type ClaimRow = { [Column in keyof HeadRow]: HeadRow[Column] | null } & {
  leased_lane: number;
  of_endpoint: number;
  of_account: number;
};

/**
 * Makes the claim of a pump's lanes. `beside` is SQL of a JSON value that is read with each delivery `d` to a bot `p`, of its
 * event `e`.
 */
export function claiming(of: DueLanes, beside?: string): ClaimDue {
  const statement = prepared(textOf(of, beside));
  const ratedStatement = of.kind === 'webhook' ? prepared(textOf(of, beside, true)) : statement;
  return async (sql, { shares, leaseSeconds, token, holdAttempts, isHeld }) => {
    const isRated = shares.some(({ rate }) => rate !== null);
    const rows = await sql<ClaimRow>(isRated ? ratedStatement : statement, [
      shares.map(({ id }) => id),
      shares.map(({ accountId }) => accountId),
      shares.map(({ lanes }) => lanes),
      shares.map(({ circuit }) => circuit),
      shares.map(({ circuit }) => (circuit === 'open' ? botPatienceSeconds : 0)),
      token,
      leaseSeconds,
      holdAttempts,
      isHeld,
    ]);
    const claim: Claim = { heads: [], idle: [] };
    for (const row of rows) {
      const { leased_lane: laneId, of_endpoint: id, of_account: accountId } = row;
      if (row.id === null) claim.idle.push({ laneId, endpoint: { id, accountId } });
      else claim.heads.push(toClaimed(row as HeadRow, token));
    }
    return claim;
  };
}

// A lane's lease doubles as its due time, so that a lane whose process died becomes due by itself. Its next lease lasts up to
// twice as long, at random: if one of several such deliveries crashes the process again, the others become due at other
// times. A lane that another transaction changed after the snapshot was taken (its version differs) is left to another claim:
// the snapshot shows deliveries as they were before.
// The head of a lane is its oldest due delivery that no older one holds back (hold.ts). A locked head is skipped, and no later
// delivery of its lane is taken instead. FOR NO KEY UPDATE re-reads the locked row, so a head that was cancelled meanwhile is
// skipped as well.
// Heads are locked, and events found, one by one by their ids: a join's plan, which stays, may be one for empty tables. A webhook
// with a rate gets as many lanes as its bucket has tokens, by the statement for rates alone: the other one refuses it.
function textOf({ kind, isSide }: DueLanes, beside?: string, isRated = false): string {
  const table = { webhook: 'webhooks', bot: 'agent_bots', automation: 'agent_bots', channel: 'agent_bots' }[kind];
  const rests = kind === 'channel' ? `${pausedSince('e')} IS NOT NULL OR ` : '';
  return `
  WITH ${isRated ? lockingBuckets : ''} candidate AS MATERIALIZED (
    SELECT due.id FROM ${sharesWithin(isRated)} AS share
    CROSS JOIN LATERAL (
      SELECT l.id, l.ctid AS version FROM lanes l WHERE l.endpoint_kind = '${kind}' AND l.is_side = ${isSide}
        AND l.endpoint_id = share.endpoint_id AND l.account_id = share.account_id
        AND l.due_at <= now() - make_interval(secs => share.due_for)
      ORDER BY l.due_at LIMIT share.wanted FOR UPDATE SKIP LOCKED) due
    WHERE NOT EXISTS (SELECT FROM ${table} e WHERE e.id = share.endpoint_id
        AND (e.paused_at IS NOT NULL OR ${rests}share.circuit = 'closed' AND e.circuit_probe_at IS NOT NULL ${kind === 'webhook' ? orRate(isRated) : ''}
          OR $9 AND ${leavesService[kind]('e')}))
      AND due.version = (SELECT seen.ctid FROM lanes seen WHERE seen.id = due.id)
  ), leased AS (
    UPDATE lanes SET lease_token = $6, due_at = now() + make_interval(
      secs => $7 * CASE WHEN lease_token IS NULL THEN 1 ELSE 1 + random() END)
    WHERE id = ANY (ARRAY(SELECT id FROM candidate)) RETURNING id, endpoint_id, account_id
  ), head AS MATERIALIZED (
    SELECT d.id, d.attempt, d.lease_token AS left_behind, $6::uuid AS token
    FROM leased l CROSS JOIN LATERAL (
      SELECT d.id FROM deliveries d
      WHERE d.lane_id = l.id AND d.state = 'pending' AND d.next_attempt_at <= now() AND ${isNotHeldBack('$8')}
      ORDER BY d.event_id LIMIT 1) oldest
    CROSS JOIN LATERAL (
      SELECT * FROM deliveries d WHERE d.id = oldest.id AND d.state = 'pending' FOR NO KEY UPDATE SKIP LOCKED) d
  ), ${taking()}${isRated ? `, ${spendingTokens}` : ''}
  SELECT lane_id AS leased_lane, endpoint_id AS of_endpoint, account_id AS of_account, ${takenRows(beside)}
  UNION ALL SELECT l.id, l.endpoint_id, l.account_id, ${headColumns.map(() => 'NULL').join(', ')}
  FROM leased l WHERE l.id <> ALL (ARRAY(SELECT lane_id FROM taken))`;
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
    formatted: row.formatted,
    endpoint: {
      kind: row.endpoint_kind,
      id: row.endpoint_id,
      runs: row.runs ?? false,
      url: row.url,
      sealedSecret: row.secret,
      olderSealedSecrets: row.older_secrets ?? [],
      cancelReason: row.cancel_reason,
      disabledReason: row.disabled_reason,
      isProven: row.is_proven,
      headers: row.headers ?? [],
      auth: row.auth,
    },
    beside: row.beside,
  };
}
