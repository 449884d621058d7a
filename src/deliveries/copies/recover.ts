import { moment, type Sql } from '../../postgres/sql.ts';
import type { Endpoint, EndpointKind } from '../core/endpoint.ts';
import { isRun } from './forward.ts';
import { countMissing, gatherMissing, type EventKinds } from './missing.ts';
import { isPreparing, isParked, withLanes } from './recovery-lanes.ts';
import { isSibling } from './siblings.ts';

/** States of deliveries that can be recovered. */
export type Recoverable = 'exhausted' | 'cancelled';

/** Which deliveries are wanted again: `since` inclusive, `until` exclusive. Samples that tried the endpoint are none of them. */
export interface Wanted {
  since: Date;
  until: Date;
  states: readonly Recoverable[];
}

/** A recovery, and the states of its deliveries so far. */
export interface Recovery extends Wanted {
  id: number;
  endpoint: Endpoint;
  /** How many deliveries are sent again; a million where they are more. */
  count: number;
  /** How many of them are of events that had no delivery: when they are collected as many as were found. */
  missing: number;
  phase: 'gather' | 'missing' | 'release' | 'send' | 'stopped';
  made: Record<'pending' | 'failing' | 'delivered' | 'exhausted' | 'cancelled', number>;
  createdAt: Date;
}

// Deliveries that one transaction reads, and changes.
const batch = 1000;
/** Deliveries that are counted when a recovery begins; it sends all. */
const maxCounted = 1_000_000;
/** Counted deliveries that are examined; further ones count even if another delivery of the same event may have arrived. */
const maxExamined = 50_000;
// Excludes events that a plugin handles in a run: they are not for the bot's server, and no run is made twice.
const isCandidate = `NOT d.superseded AND d.trigger <> 'test' AND NOT ${isRun('d')}`;
// Includes an event that was requested again before only if none of its deliveries is pending or has arrived. A candidate
// that is no copy has no other deliveries. (A scalar with a limit: EXISTS may gather its rows from the whole table first.)
const isMissing = `(d.copy = 0 OR (
  SELECT o.id FROM deliveries o WHERE ${isSibling('o', 'd')} AND o.state IN ('pending', 'delivered') LIMIT 1) IS NULL)`;
const isOf = (names: string): string =>
  `(SELECT e.id FROM events e WHERE e.account_id = d.account_id AND e.id = d.event_id AND e.name = ANY (${names}) LIMIT 1) IS NOT NULL`;

// Looks at other deliveries and events only for the first 50,000, and at events only where the webhook was ever subscribed
// to one that is left out: for a million it would take longer than a request may.
const startStatement = `
  INSERT INTO recoveries (account_id, endpoint_kind, endpoint_id, since, until, states, count)
  SELECT $1, $2, $3, $4::timestamptz, $5::timestamptz, $6::text[], count(*) FROM (
    SELECT d.*, row_number() OVER () AS place FROM deliveries d
    WHERE d.account_id = $1 AND d.endpoint_kind = $2 AND d.endpoint_id = $3 AND d.state IN ('exhausted', 'cancelled')
      AND d.state = ANY ($6) AND d.created_at >= $4::timestamptz AND d.created_at < $5::timestamptz AND ${isCandidate}
    LIMIT ${maxCounted}) d
  WHERE d.place > ${maxExamined} OR ${isMissing} AND (NOT EXISTS (SELECT FROM webhook_versions v
    WHERE $2 = 'webhook' AND v.account_id = $1 AND v.webhook_id = $3 AND v.subscriptions && $7::text[]) OR NOT ${isOf('$7')})
  RETURNING id, count`;

/** A recovery that was stored: `count` includes `missing`. */
export interface Started {
  id: number;
  count: number;
  missing: number;
}

/**
 * Stores a recovery; returns its id, and how many deliveries it will send: a million where they are more, and beyond 50,000
 * at most so many. `withMissing`, it also makes those of events that had none. Events named in `leftOut` are none of them.
 */
export async function insertRecovery(
  sql: Sql,
  accountId: number,
  {
    endpoint: { kind, id },
    since,
    until,
    states,
    leftOut,
    withMissing = false,
  }: Wanted & { endpoint: Endpoint; leftOut: readonly string[]; withMissing?: boolean },
): Promise<Started> {
  const asked = [accountId, kind, id, since, until, states, leftOut];
  const [made] = await sql<{ id: number; count: number }>(startStatement, asked);
  if (!made) throw new Error('The recovery was not written');
  const missing = withMissing ? await countMissing(sql, made.id, leftOut) : 0;
  return { ...made, count: Math.min(made.count + missing, maxCounted), missing };
}

const lockStatement = `
  SELECT id, account_id, endpoint_kind, endpoint_id, phase, missing IS NOT NULL AS with_missing FROM recoveries
  WHERE id = $1 AND ${isPreparing} FOR UPDATE SKIP LOCKED`;

const lookThrough = (state: Recoverable): string => `
  SELECT d.* FROM task t CROSS JOIN LATERAL (
    SELECT d.id, d.created_at FROM deliveries d
    WHERE d.account_id = t.account_id AND d.endpoint_kind = t.endpoint_kind AND d.endpoint_id = t.endpoint_id
      AND d.state = '${state}' AND d.created_at >= t.since AND d.created_at < t.until
      AND (d.created_at, d.id) > (t.through_at, t.through_id)
    ORDER BY d.created_at, d.id LIMIT ${batch}) d
  WHERE '${state}' = ANY (t.states)`;

// Deliveries that ended after the recovery began are none of it. The update decides which of two recoveries sends one again.
const gatherStatement = `
  WITH task AS MATERIALIZED (SELECT * FROM recoveries WHERE id = $1), looked AS MATERIALIZED (
    SELECT * FROM (${lookThrough('exhausted')} UNION ALL ${lookThrough('cancelled')}) d
    ORDER BY created_at, id LIMIT ${batch}
  ), taken AS (
    UPDATE deliveries d SET superseded = true
    WHERE d.id = ANY (ARRAY(SELECT id FROM looked)) AND d.finished_at <= (SELECT created_at FROM task)
      AND ${isCandidate} AND ${isMissing} AND NOT ${isOf('$2')}
    RETURNING d.account_id, d.event_id, d.lane_id, d.endpoint_kind, d.endpoint_id, d.forwarded, d.format
  ), subjects AS MATERIALIZED (
    SELECT t.*, l.subject_kind, l.subject_id
    FROM taken t CROSS JOIN LATERAL (SELECT subject_kind, subject_id FROM lanes WHERE id = t.lane_id LIMIT 1) l
  ), ${withLanes('subjects')}, inserted AS (
    INSERT INTO deliveries (id, account_id, event_id, lane_id, endpoint_kind, endpoint_id, trigger, copy, recovery_id,
      forwarded, format)
    SELECT m.id, m.account_id, m.event_id, m.own_lane, m.endpoint_kind, m.endpoint_id, 'recover', m.id, $1, m.forwarded, m.format
    FROM made m
  ), last AS (SELECT created_at, id FROM looked ORDER BY created_at DESC, id DESC LIMIT 1)
  UPDATE recoveries r SET through_at = last.created_at, through_id = last.id FROM last WHERE r.id = $1
  RETURNING (SELECT count(*) FROM looked)::int AS looked`;

// Found by when they are due: those that are released already are not passed by again.
const releaseStatement = `
  WITH waiting AS (
    SELECT id FROM lanes WHERE account_id = $2 AND endpoint_kind = $3 AND is_side AND endpoint_id = $4 AND ${isParked}
      AND side + 0 = -$1::bigint AND lease_token IS NULL
    LIMIT ${batch} FOR UPDATE SKIP LOCKED
  )
  UPDATE lanes l SET due_at = now() FROM waiting w WHERE l.id = w.id RETURNING l.id`;

const phaseStatement = 'UPDATE recoveries SET phase = $2 WHERE id = $1';

interface Task {
  id: number;
  account_id: number;
  endpoint_kind: EndpointKind;
  endpoint_id: number;
  phase: 'gather' | 'missing' | 'release';
  with_missing: boolean;
}

/** The result of a batch: the endpoint that has due deliveries now, and whether another batch can follow. */
export interface Step {
  due: Endpoint | null;
  more: boolean;
}

interface StepOptions extends EventKinds {
  /** Whether the endpoint is switched on; if not, the recovery stops. */
  isOn: (accountId: number, endpoint: Endpoint) => Promise<boolean>;
}

/** Does one batch of a recovery, in the caller's transaction. */
export async function recoverSome(sql: Sql, id: number, { isOn, ...kinds }: StepOptions): Promise<Step> {
  const [task] = await sql<Task>(lockStatement, [id]);
  if (!task) return { due: null, more: false };
  const endpoint = { kind: task.endpoint_kind, id: task.endpoint_id };
  if (!(await isOn(task.account_id, endpoint))) {
    await sql(phaseStatement, [id, 'stopped']);
    return { due: null, more: false };
  }
  if (task.phase === 'gather') {
    const [step] = await sql<{ looked: number }>(gatherStatement, [id, kinds.leftOut]);
    if ((step?.looked ?? 0) < batch) await sql(phaseStatement, [id, task.with_missing ? 'missing' : 'release']);
    return { due: null, more: true };
  }
  if (task.phase === 'missing') return { due: null, more: await gatherMissing(sql, id, kinds) };
  const scope = [task.account_id, task.endpoint_kind, task.endpoint_id];
  const released = await sql(releaseStatement, [id, ...scope]);
  if (released.length < batch) await sql(phaseStatement, [id, 'send']);
  return { due: endpoint, more: released.length === batch };
}

const stopStatement = `
  UPDATE recoveries SET phase = 'stopped'
  WHERE account_id = $1 AND endpoint_kind = $2 AND endpoint_id = $3 AND ${isPreparing}`;

/** Stops recoveries of the account's endpoint before they make further deliveries due; waits for a batch in progress. */
export async function stopRecoveries(sql: Sql, accountId: number, { kind, id }: Endpoint): Promise<void> {
  await sql(stopStatement, [accountId, kind, id]);
}

const unfinishedStatement = `
  SELECT r.id, r.account_id, a.name AS account_name FROM recoveries r JOIN accounts a ON a.id = r.account_id
  WHERE r.${isPreparing} AND r.id > $1 ORDER BY r.id LIMIT $2`;

/** A recovery that goes on. */
export interface Unfinished {
  id: number;
  account: { id: number; name: string };
}

/** Recoveries whose deliveries are not all due yet, after the given id, in the order of their ids. */
export async function findUnfinishedRecoveries(
  sql: Sql,
  { after, limit }: { after: number; limit: number },
): Promise<Unfinished[]> {
  const rows = await sql<{ id: number; account_id: number; account_name: string }>(unfinishedStatement, [after, limit]);
  return rows.map((row) => ({ id: row.id, account: { id: row.account_id, name: row.account_name } }));
}

const oldStatement = `
  SELECT id FROM recoveries WHERE created_at < now() - make_interval(days => $1) AND phase IN ('send', 'stopped') AND id > $2
    AND NOT EXISTS (SELECT FROM deliveries d WHERE d.recovery_id = recoveries.id) ORDER BY id LIMIT $3`;

/** Recoveries that began more than `days` ago and have no deliveries any more, in the order of their ids. */
export function findOldRecoveries(
  sql: Sql,
  days: number,
  { after, limit }: { after: number; limit: number },
): Promise<{ id: number }[]> {
  return sql<{ id: number }>(oldStatement, [days, after, limit]);
}

/** Deletes the recoveries; returns how many. */
export async function deleteRecoveries(sql: Sql, ids: readonly number[]): Promise<number> {
  return (await sql('DELETE FROM recoveries WHERE id = ANY ($1) RETURNING id', [ids])).length;
}

interface Row {
  since: string;
  until: string;
  states: Recoverable[];
  count: number;
  missing: number | null;
  phase: Recovery['phase'];
  created_at: string;
  pending: number;
  failing: number;
  delivered: number;
  exhausted: number;
  cancelled: number;
}

const readStatement = `
  SELECT r.since, r.until, r.states, r.count, r.missing, r.phase, r.created_at, d.*
  FROM recoveries r CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE state = 'pending' AND failures = 0)::int AS pending,
      count(*) FILTER (WHERE state = 'pending' AND failures > 0)::int AS failing,
      count(*) FILTER (WHERE state = 'delivered')::int AS delivered,
      count(*) FILTER (WHERE state = 'exhausted')::int AS exhausted,
      count(*) FILTER (WHERE state = 'cancelled')::int AS cancelled
    FROM deliveries WHERE recovery_id = r.id AND account_id = r.account_id) d
  WHERE r.account_id = $1 AND r.endpoint_kind = $2 AND r.endpoint_id = $3 AND r.id = $4`;

/** A recovery of the account's endpoint; null when there is none. */
export async function findRecovery(
  sql: Sql,
  accountId: number,
  { endpoint, id }: { endpoint: Endpoint; id: number },
): Promise<Recovery | null> {
  const [row] = await sql<Row>(readStatement, [accountId, endpoint.kind, endpoint.id, id]);
  if (!row) return null;
  const { pending, failing, delivered, exhausted, cancelled, states, count, missing, phase } = row;
  return {
    id,
    endpoint,
    states,
    count,
    missing: missing ?? 0,
    phase,
    since: moment(row.since),
    until: moment(row.until),
    made: {
      pending,
      failing,
      delivered,
      exhausted,
      cancelled,
    },
    createdAt: moment(row.created_at),
  };
}
