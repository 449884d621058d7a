import type { Sql } from '../../postgres/sql.ts';
import { withLanes } from './recovery-lanes.ts';

/** Events that are not recovered, and those that the format `chatwoot` has bodies of its own for. */
export interface EventKinds {
  leftOut: readonly string[];
  formatted: readonly string[];
}

// Events that one transaction looks at.
const batch = 1000;
/** Events that are looked at when a recovery begins; each further one counts. */
const maxLooked = 50_000;
/** Most that are counted; all are made. */
const maxCounted = 1_000_000;
// The feed goes by commits, and an event's time is the beginning of its transaction: none lasts so long.
const slack = `interval '1 hour'`;

// Conversations, contacts and webhooks as in events/outbox.ts; an event of a deletion refers to the deleted row in its body only.
const subjectKind = `CASE WHEN e.conversation_id IS NOT NULL OR e.name = 'conversation_deleted' THEN 'conversation'
  WHEN e.contact_id IS NOT NULL OR e.name = 'contact_deleted' THEN 'contact' ELSE 'webhook' END`;
const subjectId = `coalesce(e.conversation_id, e.contact_id, (e.account_payload #>> '{webhook,id}')::bigint,
  (e.account_payload ->> 'id')::bigint)`;

/** SQL condition: the webhook `w`, as it is now, wants the event `e` of the recovery `t`, and has no delivery of it. */
const isWanted = (leftOut: string): string => `e.account_payload IS NOT NULL AND NOT e.is_test
  AND e.created_at >= t.since AND e.created_at < t.until
  AND e.name = ANY (w.subscriptions) AND NOT e.name = ANY (${leftOut}) AND (w.inbox_id IS NULL OR w.inbox_id = e.inbox_id)
  AND (SELECT d.id FROM deliveries d WHERE d.account_id = t.account_id AND d.event_id = e.id
    AND d.endpoint_kind || '' = 'webhook' AND d.endpoint_id + 0 = w.id LIMIT 1) IS NULL
  AND ${subjectId} IS NOT NULL AND NOT (${subjectKind} = 'webhook' AND ${subjectId} = w.id)
  AND (w.filter IS NULL OR passes_filter(w.filter, e.facts::jsonb))`;

/** SQL of the first position whose event is not older than `moment` of the recovery `t`, found by halving the feed. */
const positionOf = (moment: string): string => `
  WITH RECURSIVE search AS (
    SELECT h.dropped AS low, h.position + 1 AS high FROM event_feed_heads h, begun t WHERE h.account_id = t.account_id
    UNION ALL
    SELECT CASE WHEN m.is_older THEN m.position ELSE s.low END, CASE WHEN m.is_older THEN s.high ELSE (s.low + s.high) / 2 END
    FROM search s, begun t, LATERAL (
      SELECT coalesce(f.position, s.high) AS position, coalesce(f.created_at < ${moment}, false) AS is_older FROM (SELECT) one
      LEFT JOIN LATERAL (
        SELECT f.position, e.created_at FROM event_feed f JOIN events e ON e.account_id = f.account_id AND e.id = f.event_id
        WHERE f.account_id = t.account_id AND f.position >= (s.low + s.high) / 2 AND f.position < s.high
        ORDER BY f.position LIMIT 1) f ON true) m
    WHERE s.high - s.low > 1
  )
  SELECT coalesce(min(high), 1) FROM search`;

// Events without a position yet are looked at as well: their webhook may have been switched on just now.
const lookedAt = (limit: number, bound = ''): string => `
  SELECT f.position, f.event_id FROM task t CROSS JOIN LATERAL (
    SELECT f.position, f.event_id FROM event_feed f WHERE f.account_id = t.account_id AND f.position > t.through_position ${bound}
    ORDER BY f.position LIMIT ${limit}) f
  UNION ALL
  SELECT NULL, u.event_id FROM task t CROSS JOIN LATERAL (
    SELECT u.event_id FROM unplaced_events u WHERE u.account_id = t.account_id ORDER BY u.event_id LIMIT ${batch}) u`;

const eventOf = `CROSS JOIN LATERAL (SELECT * FROM events e WHERE e.account_id = t.account_id AND e.id = l.event_id LIMIT 1) e`;

const countStatement = `
  WITH begun AS MATERIALIZED (SELECT * FROM recoveries WHERE id = $1), bounds AS MATERIALIZED (
    SELECT (${positionOf(`t.since - ${slack}`)}) - 1 AS low,
      (${positionOf(`t.until + ${slack}`)}) AS high
  ), task AS MATERIALIZED (
    SELECT b.id, b.account_id, b.endpoint_id, b.since, b.until, bounds.low AS through_position, bounds.high FROM begun b, bounds
  ), looked AS MATERIALIZED (${lookedAt(maxLooked, 'AND f.position < t.high')}), counted AS (
    SELECT count(*) AS wanted FROM task t JOIN webhooks w ON w.account_id = t.account_id AND w.id = t.endpoint_id
    CROSS JOIN looked l ${eventOf} WHERE ${isWanted('$2')}
  ), total AS (
    SELECT least(${maxCounted}, wanted + (SELECT CASE WHEN count(position) < ${maxLooked} THEN 0
      ELSE greatest(0, (SELECT high FROM task) - 1 - max(position)) END FROM looked)) AS missing FROM counted
  )
  UPDATE recoveries r SET missing = total.missing, count = least(${maxCounted}, r.count + total.missing),
    through_position = bounds.low
  FROM total, bounds WHERE r.id = $1 RETURNING r.missing`;

/**
 * Has the recovery of a webhook make deliveries of events that have none, and counts them. Looks at 50,000 events of the time;
 * each further one counts, until they are collected.
 */
export async function countMissing(sql: Sql, recoveryId: number, leftOut: readonly string[]): Promise<number> {
  const [counted] = await sql<{ missing: number }>(countStatement, [recoveryId, leftOut]);
  return counted?.missing ?? 0;
}

// The delivery is the event's first one to the webhook (copy 0), of which there is one: another recovery makes no second.
const gatherStatement = `
  WITH task AS MATERIALIZED (SELECT * FROM recoveries WHERE id = $1), looked AS MATERIALIZED (
    SELECT * FROM (${lookedAt(batch)}) l
  ), subjects AS MATERIALIZED (
    SELECT t.account_id, e.id AS event_id, t.endpoint_kind, t.endpoint_id, ${subjectKind} AS subject_kind,
      ${subjectId} AS subject_id, CASE WHEN w.format <> 'default' AND (e.chatwoot_payload IS NOT NULL
        OR NOT e.name = ANY ($3)) THEN w.format END AS format
    FROM task t JOIN webhooks w ON w.account_id = t.account_id AND w.id = t.endpoint_id CROSS JOIN looked l ${eventOf}
    WHERE ${isWanted('$2')}
  ), ${withLanes('subjects')}, inserted AS (
    INSERT INTO deliveries (id, account_id, event_id, lane_id, endpoint_kind, endpoint_id, trigger, recovery_id, format)
    SELECT m.id, m.account_id, m.event_id, m.own_lane, m.endpoint_kind, m.endpoint_id, 'recover', $1, m.format FROM made m
    ORDER BY m.event_id
    ON CONFLICT (account_id, event_id, endpoint_kind, endpoint_id, copy) DO NOTHING RETURNING id
  ), pace AS (
    SELECT count(position) AS placed, count(*) - count(position) AS unplaced, max(position) AS last,
      bool_and((SELECT e.created_at FROM events e, task t WHERE e.account_id = t.account_id AND e.id = l.event_id)
        >= (SELECT until + ${slack} FROM task)) AS is_later
    FROM looked l
  )
  UPDATE recoveries r SET through_position = coalesce(pace.last, r.through_position),
    found = r.found + (SELECT count(*) FROM inserted)
  FROM pace WHERE r.id = $1
  RETURNING (pace.placed < ${batch} AND pace.unplaced < ${batch} OR coalesce(pace.is_later, true)) AS is_last,
    pace.placed = ${batch} AS more`;

const endStatement = `
  UPDATE recoveries SET phase = 'release', count = greatest(0, count - missing) + found, missing = found WHERE id = $1`;

/**
 * Makes the deliveries of the next events of the feed that the webhook would have got; after the last ones the recovery is
 * released, and its counts are exact. Returns false if the next batch has to wait for events to get their positions.
 */
export async function gatherMissing(sql: Sql, recoveryId: number, kinds: EventKinds): Promise<boolean> {
  const asked = [recoveryId, kinds.leftOut, kinds.formatted];
  const [step] = await sql<{ is_last: boolean; more: boolean }>(gatherStatement, asked);
  if (!step?.is_last) return step?.more ?? false;
  await sql(endStatement, [recoveryId]);
  return true;
}
