import { moment, type Sql } from '../../postgres/sql.ts';
import type { OutboundTimes } from '../../outbound/http.ts';
import { bodyOf } from '../lanes/bodies.ts';
import { isRun } from '../copies/forward.ts';
import { logColumns, toLogged, type LoggedDelivery, type LogRow } from './log.ts';

/** An attempt as it is stored. */
export interface LoggedAttempt {
  number: number;
  startedAt: Date;
  /** `delivered`, `failed`, or `unknown` when its process ended without a result. */
  outcome: 'delivered' | 'failed' | 'unknown';
  status: number | null;
  errorCode: string | null;
  errorDetail: string | null;
  /** The headers that were sent; empty when nothing was. */
  sent: Readonly<Record<string, string>>;
  /** The headers of the answer. */
  received: Readonly<Record<string, string>>;
  responseBody: string | null;
  times: OutboundTimes;
  durationMs: number | null;
}

/** A delivery with its attempts, in their order, and the body that they send. */
export interface DeliveryDetail extends LoggedDelivery {
  body: string;
  attemptList: LoggedAttempt[];
}

interface WireJson {
  startedAt: string;
  errorDetail: string | null;
  sent: Record<string, string>;
  received: Record<string, string> | null;
  times: OutboundTimes;
}

interface AttemptRow {
  number: number;
  outcome: LoggedAttempt['outcome'];
  status: number | null;
  error_code: string | null;
  response_body: string | null;
  duration_ms: number | null;
  wire: WireJson | null;
  created_at: string;
}

const statement = `
  SELECT ${logColumns},
    (CASE WHEN d.format IS NOT NULL AND NOT ${isRun('d')} THEN coalesce(e.chatwoot_payload, ${bodyOf('d', 'e')})
      ELSE ${bodyOf('d', 'e')} END)::text AS body
  FROM deliveries d JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id
  WHERE d.account_id = $1 AND d.id = $2`;

const attemptStatement = `
  SELECT number, outcome, status, error_code, response_body, duration_ms, wire, created_at FROM attempts
  WHERE account_id = $1 AND delivery_id = $2 ORDER BY number, id`;

const unknownTimes: OutboundTimes = { dns: null, connect: null, tls: null, firstByte: null };

const loggedStatement = `
  SELECT ${logColumns} FROM deliveries d JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id
  WHERE d.account_id = $1 AND d.id = $2`;

/** A delivery of the account; null when there is none. */
export async function findLogged(sql: Sql, accountId: number, id: number): Promise<LoggedDelivery | null> {
  const [row] = await sql<LogRow>(loggedStatement, [accountId, id]);
  return row ? toLogged(row) : null;
}

/** A delivery of the account with all its attempts; null when there is none. */
export async function findDelivery(sql: Sql, accountId: number, id: number): Promise<DeliveryDetail | null> {
  const [row] = await sql<LogRow & { body: string }>(statement, [accountId, id]);
  if (!row) return null;
  const attempts = await sql<AttemptRow>(attemptStatement, [accountId, id]);
  return { ...toLogged(row), body: row.body, attemptList: attempts.map(toAttempt) };
}

// Attempts that were made before their exchanges were stored have no more than their result.
function toAttempt({ wire, ...row }: AttemptRow): LoggedAttempt {
  const endedAt = moment(row.created_at);
  return {
    number: row.number,
    startedAt: wire ? moment(wire.startedAt) : new Date(endedAt.getTime() - (row.duration_ms ?? 0)),
    outcome: row.outcome,
    status: row.status,
    errorCode: row.error_code,
    errorDetail: wire?.errorDetail ?? null,
    sent: wire?.sent ?? {},
    received: wire?.received ?? {},
    responseBody: row.response_body,
    times: wire?.times ?? unknownTimes,
    durationMs: row.duration_ms,
  };
}
