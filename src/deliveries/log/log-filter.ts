import { containing } from '../../postgres/like.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Endpoint } from '../core/endpoint.ts';
import { anySide } from '../lanes/side-lanes.ts';

/**
 * The state of a delivery as people see it. `pending`: no attempt has failed yet; `failing`: one has, and another is due;
 * `exhausted`: no further attempt follows; `cancelled`: it was not wanted any more.
 */
export type DeliveryState = 'pending' | 'failing' | 'delivered' | 'exhausted' | 'cancelled';

/** The place of a delivery in the log, which goes from the newest to the oldest. */
export interface Place {
  createdAt: string;
  id: number;
}

/** Which deliveries of the account are wanted: `since` inclusive, `until` exclusive; those behind `after`. */
export interface LogFilter {
  /** Null for all endpoints that the account ever had. */
  endpoint: Endpoint | null;
  state: DeliveryState | null;
  event: string | null;
  /** HTTP status of the last attempt. */
  status: number | null;
  /** Codes of the last attempt's error. */
  errorCodes: readonly string[] | null;
  /** Text in the answer to an attempt. */
  answer: string | null;
  conversationId: number | null;
  since: Date | null;
  until: Date | null;
  after: Place | null;
}

/** Lanes that are looked at to find the oldest pending delivery. */
const maxLanes = 1000;

// Found by an index, or in what was looked through. `pending` is a state of nearly all deliveries for a moment, and has no
// index of its own.
const indexed: Record<DeliveryState, string | null> = {
  pending: null,
  failing: `d.state = 'pending' AND d.failures > 0`,
  delivered: null,
  exhausted: `d.state = 'exhausted'`,
  cancelled: `d.state = 'cancelled'`,
};
const lookedUp: Partial<Record<DeliveryState, string>> = {
  pending: `d.state = 'pending' AND d.failures = 0`,
  delivered: `d.state = 'delivered'`,
};

/** The parameters of the SQL of lookingThrough, from the third on, in the order of their numbers. */
export function parametersOf({ since, until, after, ...filter }: LogFilter): unknown[] {
  const { endpoint, conversationId } = filter;
  return [
    since?.toISOString() ?? '-infinity',
    until?.toISOString() ?? 'infinity',
    after?.createdAt ?? 'infinity',
    after?.id ?? 0,
    ...(endpoint ? [endpoint.kind, endpoint.id] : []),
    ...(conversationId === null ? [] : [conversationId]),
    ...wishes(filter).map(([, value]) => value),
  ];
}

/**
 * SQL of a recursive CTE: `looked`, the deliveries of which an index knows that they may be wanted, the newest `limit` of each
 * endpoint; and `wanted`, the condition on one of them, `d`, and its event `e`. `$1` is the account, `$2` the oldest moment.
 */
export function lookingThrough(filter: LogFilter, limitOf: (isFiltered: boolean) => number) {
  const { state, conversationId, endpoint } = filter;
  let parameters = 6;
  const next = (): string => `$${(parameters += 1)}`;
  const one = endpoint && { kind: `${next()}::text`, id: `${next()}::bigint` };
  const conversation = conversationId === null ? null : next();
  const wanted = [
    ...wishes(filter).map(([condition]) => condition(next())),
    ...(state && lookedUp[state] ? [lookedUp[state]] : []),
  ];
  const limit = limitOf(wanted.length > 0);
  const bounds = `d.created_at >= greatest($2::timestamptz, $3::timestamptz) AND d.created_at < $4::timestamptz
    AND (d.created_at, d.id) < ($5::timestamptz, $6::bigint) ${state && indexed[state] ? `AND ${indexed[state]}` : ''}`;
  const looked =
    conversation === null ? ofEndpoints(one, { bounds, limit }) : ofConversation(conversation, one, bounds);
  return { looked, limit, wanted: ['true', ...wanted].join(' AND ') };
}

/** SQL that joins a delivery's event. Found one by one: joined, a planner that expects many would read all of the account. */
export const withEvent = `CROSS JOIN LATERAL (
      SELECT name, conversation_id FROM events WHERE account_id = $1 AND id = d.event_id LIMIT 1) e`;

type Wishes = Pick<LogFilter, 'event' | 'status' | 'errorCodes' | 'answer'>;

// Conditions that no index answers, with their values: of the delivery `d` and its event `e`.
function wishes({ event, status, errorCodes, answer }: Wishes): [(value: string) => string, unknown][] {
  const all: [(value: string) => string, unknown][] = [
    [(value) => `e.name = ${value}`, event],
    [(value) => `d.last_status = ${value}`, status],
    [(value) => `d.last_error = ANY (${value}::text[])`, errorCodes],
    [
      (value) =>
        `EXISTS (SELECT FROM attempts a WHERE a.account_id = $1 AND a.delivery_id = d.id AND a.response_body ILIKE ${value})`,
      answer === null ? null : containing(answer),
    ],
  ];
  return all.filter(([, value]) => value !== null);
}

/** SQL expressions of an endpoint. */
interface EndpointSql {
  kind: string;
  id: string;
}

// Endpoints have streams of deliveries, each in the order of its index. From each one the newest are taken; those older than
// the point up to which all streams were looked through (the horizon) belong to the next page.
function ofEndpoints(one: EndpointSql | null, { bounds, limit }: { bounds: string; limit: number }): string {
  const endpoints = one
    ? `endpoint AS MATERIALIZED (SELECT ${one.kind} AS kind, ${one.id} AS id)`
    : `${steps}, endpoint AS MATERIALIZED (SELECT kind, id FROM step)`;
  return `${endpoints}, looked AS MATERIALIZED (
    SELECT s.*, row_number() OVER (PARTITION BY s.endpoint_kind, s.endpoint_id ORDER BY s.created_at DESC, s.id DESC) AS place
    FROM endpoint CROSS JOIN LATERAL (
      SELECT d.* FROM deliveries d WHERE d.account_id = $1 AND d.endpoint_kind = endpoint.kind
        AND d.endpoint_id = endpoint.id AND ${bounds}
      ORDER BY d.created_at DESC, d.id DESC LIMIT ${limit}) s)`;
}

// Steps from endpoint to endpoint over the index, those that are deleted included.
const steps = `step AS (
    (SELECT endpoint_kind AS kind, endpoint_id AS id FROM deliveries WHERE account_id = $1
     ORDER BY endpoint_kind, endpoint_id LIMIT 1)
    UNION ALL
    SELECT next.* FROM step CROSS JOIN LATERAL (
      SELECT endpoint_kind, endpoint_id FROM deliveries
      WHERE account_id = $1 AND (endpoint_kind, endpoint_id) > (step.kind, step.id)
      ORDER BY endpoint_kind, endpoint_id LIMIT 1) next
  )`;

// A conversation's lanes hold few deliveries, which are looked through without a horizon.
function ofConversation(conversation: string, one: EndpointSql | null, bounds: string): string {
  return `looked AS MATERIALIZED (
    SELECT d.*, 0 AS place FROM lanes l JOIN deliveries d ON d.account_id = l.account_id AND d.lane_id = l.id
    WHERE l.account_id = $1 AND l.subject_kind = 'conversation' AND l.subject_id = ${conversation}
      ${one ? `AND l.endpoint_kind = ${one.kind} AND l.endpoint_id = ${one.id}` : ''} AND ${bounds})`;
}

// Every pending delivery is in a lane that is due. Many due lanes: their deliveries are found soon without a bound. A lane's
// first delivery need not be its oldest: a transaction may begin before another and get the lane after it, and a recovery
// collects in an order of its own.
const oldestPending = (endpoint: string): string => `
  WITH waiting AS MATERIALIZED (
    SELECT id, side FROM lanes WHERE ${endpoint} AND account_id = $1 AND due_at IS NOT NULL LIMIT ${maxLanes + 1})
  SELECT CASE WHEN (SELECT count(*) FROM waiting) > ${maxLanes} THEN '-infinity'
    ELSE min(least(d.created_at - interval '1 minute', r.created_at)) END AS oldest
  FROM waiting w CROSS JOIN LATERAL (
    SELECT d.created_at FROM deliveries d WHERE d.lane_id = w.id AND d.state = 'pending' AND d.failures = 0
    ORDER BY d.event_id LIMIT 1) d
  LEFT JOIN recoveries r ON w.side < 0 AND r.account_id = $1 AND r.id = -w.side`;

/** The moment before which no delivery of the filter was created, as text, or null when there is none: of pending ones alone. */
export async function findOldestPending(
  sql: Sql,
  accountId: number,
  { state, endpoint }: LogFilter,
): Promise<string | null> {
  if (state !== 'pending') return '-infinity';
  const [row] = await sql<{ oldest: string | null }>(
    oldestPending(endpoint ? `endpoint_kind = $2 AND ${anySide} AND endpoint_id = $3` : 'true'),
    [accountId, ...(endpoint ? [endpoint.kind, endpoint.id] : [])],
  );
  return row?.oldest ?? null;
}
