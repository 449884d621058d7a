import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Statement } from '../../postgres/sql-transaction.ts';
import type { BodyFormat, Endpoint, EndpointKind } from '../core/endpoint.ts';
import { isRun } from './forward.ts';
import { isNotHeldBack } from '../lanes/hold.ts';
import { laneOrder } from '../lanes/lock-order.ts';
import { isSibling } from './siblings.ts';

/** A delivery that somebody wants to be made again. */
export interface Original {
  id: number;
  eventId: number;
  endpoint: Endpoint;
  /** Whether an attempt is being made: of it, or of another delivery of the same event to the same endpoint. */
  isRunning: boolean;
  /** Whether a plugin is to handle the event, or has: it is not for the bot's server. */
  isRun: boolean;
}

interface OriginalRow {
  event_id: number;
  endpoint_kind: EndpointKind;
  endpoint_id: number;
  is_running: boolean;
  is_run: boolean;
}

const siblings = isSibling('o', 'd');

const originalStatement = prepared(`
  SELECT d.event_id, d.endpoint_kind, d.endpoint_id, EXISTS (
    SELECT FROM deliveries o WHERE ${siblings} AND o.state = 'pending' AND o.lease_token IS NOT NULL) AS is_running,
    ${isRun('d')} AS is_run
  FROM deliveries d WHERE d.account_id = $1 AND d.id = $2`);

/** The account's delivery of that id; null when there is none. */
export async function findOriginal(sql: Sql, accountId: number, id: number): Promise<Original | null> {
  const [row] = await sql<OriginalRow>(originalStatement, [accountId, id]);
  if (!row) return null;
  const endpoint = { kind: row.endpoint_kind, id: row.endpoint_id };
  return { id, eventId: row.event_id, endpoint, isRunning: row.is_running, isRun: row.is_run };
}

// Without waiting: whoever has locked one of them decides whether it may be made again.
const lockFreeStatement = `
  SELECT d.id, d.state = 'pending' AS is_pending FROM deliveries d
  WHERE d.account_id = $1 AND d.id = ANY ($2) FOR UPDATE SKIP LOCKED`;
const thereStatement = 'SELECT id FROM deliveries WHERE account_id = $1 AND id = ANY ($2)';

/** Locks those of the account's deliveries that nobody has locked; returns them, and the ids of the others that are there. */
export async function lockFreeDeliveries(
  sql: Sql,
  accountId: number,
  ids: readonly number[],
): Promise<{ pending: ReadonlySet<number>; ended: ReadonlySet<number>; busy: number[] }> {
  const rows = await sql<{ id: number; is_pending: boolean }>(lockFreeStatement, [accountId, ids]);
  const idsOf = (isPending: boolean): number[] =>
    rows.filter((row) => row.is_pending === isPending).map((row) => row.id);
  const free = new Set(rows.map(({ id }) => id));
  const there = await sql<{ id: number }>(thereStatement, [accountId, ids]);
  const busy = there.map(({ id }) => id).filter((id) => !free.has(id));
  return { pending: new Set(idsOf(true)), ended: new Set(idsOf(false)), busy };
}

const turnStatement = prepared(
  `SELECT pg_try_advisory_xact_lock(hashtextextended('resend ' || $1::bigint, 0)) AS taken`,
);

/** Whether no other transaction resends the delivery; until this one ends none does. Many requests would wait for each other. */
export async function takeTurn(sql: Sql, id: number): Promise<boolean> {
  const [row] = await sql<{ taken: boolean }>(turnStatement, [id]);
  return row?.taken ?? false;
}

// A lane of its own: it neither waits for others nor holds them back.
const copyStatement = prepared(`
  WITH original AS (
    UPDATE deliveries SET superseded = true WHERE account_id = $1 AND id = $2
    RETURNING account_id, event_id, lane_id, endpoint_kind, endpoint_id, forwarded, format
  ), made AS (SELECT nextval('deliveries_id_seq') AS id, * FROM original), lane AS (
    INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, side, due_at)
    SELECT m.account_id, m.endpoint_kind, m.endpoint_id, l.subject_kind, l.subject_id, m.id, now() + make_interval(secs => $3)
    FROM made m JOIN lanes l ON l.account_id = m.account_id AND l.id = m.lane_id RETURNING id
  )
  INSERT INTO deliveries (id, account_id, event_id, lane_id, endpoint_kind, endpoint_id, trigger, copy, forwarded, format,
    next_attempt_at)
  SELECT m.id, m.account_id, m.event_id, lane.id, m.endpoint_kind, m.endpoint_id, 'resend', m.id, m.forwarded, m.format,
    now() + make_interval(secs => $3)
  FROM made m, lane
  RETURNING id`);

/** Makes the delivery once more, in a side lane; returns the new delivery's id, null when it is gone. */
export async function copyDelivery(sql: Sql, accountId: number, id: number): Promise<number | null> {
  const [made] = await sql<{ id: number }>(copyStatement, [accountId, id, 0]);
  return made?.id ?? null;
}

/** Returns the statement that has the delivery be made once more later, in a side lane. */
export function copyLater(accountId: number, id: number, delayMs: number): Statement {
  return { text: copyStatement, parameters: [accountId, id, delayMs / 1_000] };
}

// The event is in no feed: it has not happened. A bot's plugin has nothing to do with it, only its server.
const testStatement = `
  WITH happened AS (
    INSERT INTO events (account_id, name, account_payload, bot_payload, chatwoot_payload, is_test)
    VALUES ($1, $4, $5::json, $6::json, $7::json, true) RETURNING id
  ), made AS (SELECT nextval('deliveries_id_seq') AS id), lane AS (
    INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, side, due_at)
    SELECT $1, $2, $3, $2, $3, id, now() FROM made RETURNING id
  )
  INSERT INTO deliveries (id, account_id, event_id, lane_id, endpoint_kind, endpoint_id, trigger, copy, forwarded, format)
  SELECT made.id, $1, happened.id, lane.id, $2, $3, 'test', made.id, $2 = 'bot', $8 FROM made, happened, lane RETURNING id`;

/** A sample of an event, with its body as JSON text, and as the format has it where that is not the default. */
interface Sample {
  endpoint: Endpoint;
  event: string;
  body: string;
  format: BodyFormat;
  formatted: string | null;
}

/** Makes a delivery of a sample of the event; returns its id. */
export async function insertTest(
  sql: Sql,
  accountId: number,
  { endpoint: { kind, id }, event, body, format, formatted }: Sample,
): Promise<number> {
  const payloads = kind === 'webhook' ? [body, null, formatted] : [null, body, formatted];
  const wanted = format === 'default' ? null : format;
  const [made] = await sql<{ id: number }>(testStatement, [accountId, kind, id, event, ...payloads, wanted]);
  if (!made) throw new Error('The test was not written');
  return made.id;
}

// Locks the lanes first, in their order; the statements after it read the state under the locks.
const lockStatement = `
  SELECT l.id FROM lanes l WHERE l.account_id = $1 AND l.id IN (
    SELECT o.lane_id FROM deliveries d JOIN deliveries o ON ${siblings} AND o.state = 'pending'
    WHERE d.account_id = $1 AND d.id = $2)
  ORDER BY ${laneOrder('l')} FOR UPDATE`;

// A delivery in progress ends as delivered with its attempt, however that ends.
const answerStatement = `
  UPDATE deliveries o SET is_answered = true,
    state = CASE WHEN o.lease_token IS NULL THEN 'delivered' ELSE o.state END,
    finished_at = CASE WHEN o.lease_token IS NULL THEN now() END,
    last_status = CASE WHEN o.lease_token IS NULL THEN $3 ELSE o.last_status END,
    last_error = CASE WHEN o.lease_token IS NULL THEN NULL ELSE o.last_error END
  FROM deliveries d WHERE d.account_id = $1 AND d.id = $2 AND ${siblings} AND o.id <> d.id AND o.state = 'pending'
  RETURNING o.lane_id`;

const releaseStatement = `
  UPDATE lanes l SET due_at = (
    SELECT min(greatest(d.next_attempt_at, now())) FROM deliveries d
    WHERE d.lane_id = l.id AND d.state = 'pending' AND ${isNotHeldBack('$2')})
  WHERE l.id = ANY ($1) AND l.lease_token IS NULL`;

/** Locks the lanes of the delivery and of all others of the same event to the same endpoint that are pending. */
export async function lockCopies(sql: Sql, accountId: number, id: number): Promise<void> {
  await sql(lockStatement, [accountId, id]);
}

/**
 * Ends the others as delivered, because this one has arrived and was answered with `status`. Their lanes are locked; what
 * waited behind them in their lanes becomes due.
 */
export async function answerCopies(
  sql: Sql,
  {
    accountId,
    id,
    status,
    holdAttempts,
  }: { accountId: number; id: number; status: number | null; holdAttempts: number },
): Promise<void> {
  const ended = await sql<{ lane_id: number }>(answerStatement, [accountId, id, status]);
  if (ended.length === 0) return;
  await sql(releaseStatement, [ended.map((row) => row.lane_id), holdAttempts]);
}
