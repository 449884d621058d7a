import { containing } from '../../postgres/like.ts';
import { momentOrNull, moment, type Sql } from '../../postgres/sql.ts';
import type { Endpoint, EndpointKind } from '../core/endpoint.ts';
import type { CancelledBy } from '../core/refusal.ts';
import type { Trigger } from '../core/trigger.ts';
import { anySide } from '../lanes/side-lanes.ts';

/**
 * The state of a delivery as people see it. `pending`: no attempt has failed yet; `failing`: one has, and another is due;
 * `exhausted`: no further attempt follows; `cancelled`: it was not wanted any more.
 */
type DeliveryState = 'pending' | 'failing' | 'delivered' | 'exhausted' | 'cancelled';

/** A delivery in the log. */
export interface LoggedDelivery {
  id: number;
  endpoint: Endpoint;
  event: { id: number; name: string; conversationId: number | null };
  state: DeliveryState;
  trigger: Trigger;
  /** Attempts so far, those in progress and those with an unknown end included. */
  attempts: number;
  lastStatus: number | null;
  lastError: string | null;
  /** Null when no further attempt follows. */
  nextAttemptAt: Date | null;
  /** Null for all that are not cancelled, and for those of bots that may not speak. */
  cancelledBy: CancelledBy | null;
  createdAt: Date;
}

/** The place of a delivery in the log, which goes from the newest to the oldest. */
interface Place {
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

/** A stretch of the log, and where it goes on; null at its end. */
export interface LogStretch {
  rows: LoggedDelivery[];
  next: Place | null;
}

export interface LogRow {
  id: number;
  endpoint_kind: EndpointKind;
  endpoint_id: number;
  event_id: number;
  event: string;
  conversation_id: number | null;
  state: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
  trigger: Trigger;
  attempt: number;
  failures: number;
  last_status: number | null;
  last_error: string | null;
  next_attempt_at: string;
  cancelled_by: CancelledBy | null;
  created_at: string;
}

type FoundRow = { [Column in keyof LogRow]: LogRow[Column] | null } & {
  horizon_at: string | null;
  horizon_id: number | null;
};

const pageSize = 25;
/** Deliveries of an endpoint that are looked through for a page, where no index knows which of them are wanted. */
const maxLookedThrough = 500;
/** Lanes that are looked at to find the oldest pending delivery. */
const maxLanes = 1000;

/** The columns of LogRow, of a delivery `d` and its event `e`. */
export const logColumns = `d.id, d.endpoint_kind, d.endpoint_id, d.event_id, e.name AS event, e.conversation_id, d.state,
  d.trigger, d.attempt, d.failures, d.last_status, d.last_error, d.next_attempt_at, d.cancelled_by, d.created_at`;

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

/**
 * A page of the account's deliveries, newest first. Looks through a bounded number of deliveries, so that a page may have
 * fewer than 25, and even none, while the log goes on.
 */
export async function listDeliveries(sql: Sql, accountId: number, filter: LogFilter): Promise<LogStretch> {
  const oldest = filter.state === 'pending' ? await findOldestPending(sql, accountId, filter) : '-infinity';
  if (oldest === null) return { rows: [], next: null };
  const found = await sql<FoundRow>(statementOf(filter), [accountId, oldest, ...parametersOf(filter)]);
  const rows = found.filter((row): row is FoundRow & LogRow => row.id !== null);
  const page = rows.slice(0, pageSize);
  return { rows: page.map(toLogged), next: nextOf(found, rows, page.at(-1)) };
}

// In the order in which statementOf numbers them.
function parametersOf({ since, until, after, ...filter }: LogFilter): unknown[] {
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

const knownConversation = `
  SELECT FROM conversations WHERE account_id = $1 AND id = $2
  UNION ALL SELECT FROM lanes WHERE account_id = $1 AND subject_kind = 'conversation' AND subject_id = $2 LIMIT 1`;

/** Whether the account has the conversation, or had it and still has deliveries of it. */
export async function knowsConversation(sql: Sql, accountId: number, id: number): Promise<boolean> {
  return (await sql(knownConversation, [accountId, id])).length > 0;
}

function nextOf(found: readonly FoundRow[], rows: readonly LogRow[], last: LogRow | undefined): Place | null {
  if (last && rows.length > pageSize) return { createdAt: last.created_at, id: last.id };
  const [first] = found;
  return first?.horizon_at && first.horizon_id ? { createdAt: first.horizon_at, id: first.horizon_id } : null;
}

export function toLogged(row: LogRow): LoggedDelivery {
  const isOpen = row.state === 'pending';
  return {
    id: row.id,
    endpoint: { kind: row.endpoint_kind, id: row.endpoint_id },
    event: { id: row.event_id, name: row.event, conversationId: row.conversation_id },
    state: isOpen && row.failures > 0 ? 'failing' : row.state,
    trigger: row.trigger,
    attempts: row.attempt,
    lastStatus: row.last_status,
    lastError: row.last_error,
    nextAttemptAt: isOpen ? momentOrNull(row.next_attempt_at) : null,
    cancelledBy: row.cancelled_by,
    createdAt: moment(row.created_at),
  };
}

// Events are found one by one: joined, a planner that expects many would read all of the account.
function statementOf(filter: LogFilter): string {
  const { state, conversationId, endpoint } = filter;
  let parameters = 6;
  const next = (): string => `$${(parameters += 1)}`;
  const one = endpoint && { kind: `${next()}::text`, id: `${next()}::bigint` };
  const conversation = conversationId === null ? null : next();
  const wanted = [
    ...wishes(filter).map(([condition]) => condition(next())),
    ...(state && lookedUp[state] ? [lookedUp[state]] : []),
  ];
  const limit = wanted.length === 0 ? pageSize + 1 : maxLookedThrough;
  const bounds = `d.created_at >= greatest($2::timestamptz, $3::timestamptz) AND d.created_at < $4::timestamptz
    AND (d.created_at, d.id) < ($5::timestamptz, $6::bigint) ${state && indexed[state] ? `AND ${indexed[state]}` : ''}`;
  return `
  WITH RECURSIVE ${conversation === null ? ofEndpoints(one, { bounds, limit }) : ofConversation(conversation, one, bounds)},
  horizon AS MATERIALIZED (
    SELECT created_at, id FROM looked WHERE place = ${limit} ORDER BY created_at DESC, id DESC LIMIT 1
  ), found AS (
    SELECT ${logColumns} FROM looked d CROSS JOIN LATERAL (
      SELECT name, conversation_id FROM events WHERE account_id = $1 AND id = d.event_id LIMIT 1) e
    WHERE ${['true', ...wanted].join(' AND ')} AND (d.created_at, d.id) >= (
      coalesce((SELECT created_at FROM horizon), '-infinity'), coalesce((SELECT id FROM horizon), 0))
    ORDER BY d.created_at DESC, d.id DESC LIMIT ${pageSize + 1}
  )
  SELECT horizon.created_at AS horizon_at, horizon.id AS horizon_id, found.*
  FROM (SELECT) one LEFT JOIN horizon ON true LEFT JOIN found ON true ORDER BY found.created_at DESC, found.id DESC`;
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

async function findOldestPending(sql: Sql, accountId: number, { endpoint }: LogFilter): Promise<string | null> {
  const [row] = await sql<{ oldest: string | null }>(
    oldestPending(endpoint ? `endpoint_kind = $2 AND ${anySide} AND endpoint_id = $3` : 'true'),
    [accountId, ...(endpoint ? [endpoint.kind, endpoint.id] : [])],
  );
  return row?.oldest ?? null;
}
