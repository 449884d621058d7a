import { addingMeasured, hourOf, measures, stepsPerDoubling } from '../../lib/report-hours.ts';
import { momentOrNull, type Sql } from '../../postgres/sql.ts';
import { anySide } from '../lanes/side-lanes.ts';

const batch = 5000;
const maxLanes = 20_000;
const maxLanesOfEndpoint = 10_000;

// The oldest pending delivery of a lane.
const head = `SELECT created_at FROM deliveries WHERE lane_id = l.id AND state = 'pending' ORDER BY event_id LIMIT 1`;

// Leaves out attempts that made no request, or were a run of the bot's plugin. A single statement commits the counts and
// their progress together; another process skips the batch that it locks.
const countStatement = `
  WITH place AS MATERIALIZED (
    SELECT counted_to, seen_to FROM report_progress
    WHERE source = 'attempts' AND counted_to < seen_to AND pg_snapshot_xmin(pg_current_snapshot()) >= seen_xid
    FOR UPDATE SKIP LOCKED
  ), batch AS MATERIALIZED (
    SELECT a.* FROM place CROSS JOIN LATERAL (
      SELECT id, account_id, created_at, outcome, status, duration_ms, wire IS NOT NULL AS is_sent FROM attempts
      WHERE id > place.counted_to AND id <= place.seen_to ORDER BY id LIMIT ${batch}) a
  ), measured AS (
    SELECT account_id, ${hourOf('created_at')} AS hour, m.measure FROM batch CROSS JOIN LATERAL (VALUES
      ('${measures.attempts}'),
      (CASE WHEN outcome = 'delivered' THEN '${measures.delivered}' END),
      (CASE WHEN status IS NOT NULL
        THEN '${measures.step}' || ceil(ln(greatest(duration_ms, 1)) / ln(2) * ${stepsPerDoubling} - 1e-9)::int END)) m (measure)
    WHERE is_sent
  ), counted AS (${addingMeasured}
  ), moved AS (
    UPDATE report_progress p SET counted_to = CASE WHEN b.rows < ${batch} THEN place.seen_to ELSE b.last END
    FROM place CROSS JOIN (SELECT count(*) AS rows, max(id) AS last FROM batch) b WHERE p.source = 'attempts'
  )
  SELECT count(*)::int AS rows FROM batch`;

/** Adds a batch of attempts to the hours of reports, as far as they were seen; returns whether there may be more. */
export async function countAttempts(sql: Sql): Promise<boolean> {
  const [counted] = await sql<{ rows: number }>(countStatement);
  return counted?.rows === batch;
}

// A database that was restored elsewhere has transactions that the new server knows nothing of.
const seeStatement = `
  UPDATE report_progress SET seen_to = newest.id, seen_xid = pg_snapshot_xmax(pg_current_snapshot())
  FROM (SELECT max(id) AS id FROM attempts) newest
  WHERE source = 'attempts' AND newest.id > counted_to
    AND (counted_to = seen_to OR seen_xid > pg_snapshot_xmax(pg_current_snapshot()))`;

/** Looks how far there are attempts; they are counted when all transactions have ended that are running now. */
export async function seeAttempts(sql: Sql): Promise<void> {
  await sql(seeStatement);
}

// Every pending delivery is in a lane that is due.
const sampleStatement = `
  INSERT INTO report_hours AS r (account_id, hour, measure, count)
  SELECT account_id, ${hourOf('now()')}, '${measures.oldest}', seconds FROM (
    SELECT l.account_id, floor(extract(epoch FROM now() - min(d.created_at)))::bigint AS seconds
    FROM (SELECT id, account_id FROM lanes
      WHERE endpoint_kind = ANY ('{webhook,bot,automation}') AND ${anySide} AND due_at IS NOT NULL LIMIT ${maxLanes}) l
    CROSS JOIN LATERAL (${head}) d
    GROUP BY l.account_id) waiting
  WHERE seconds > 0 ORDER BY account_id
  ON CONFLICT (account_id, hour, measure) DO UPDATE SET count = greatest(r.count, excluded.count)`;

/** Writes down how long the oldest delivery of each account has waited, as far as 20,000 lanes show it. */
export async function sampleWaiting(sql: Sql): Promise<void> {
  await sql(sampleStatement);
}

const oldestStatement = `
  SELECT min(d.created_at) AS oldest FROM (
    SELECT 'webhook' AS kind, id FROM webhooks WHERE account_id = $1
    UNION ALL SELECT CASE WHEN kind IN ('automation', 'channel') THEN kind ELSE 'bot' END, id FROM agent_bots WHERE account_id = $1 OR account_id IS NULL) e
  CROSS JOIN LATERAL (
    SELECT id FROM lanes WHERE endpoint_kind = e.kind AND ${anySide} AND endpoint_id = e.id AND account_id = $1
      AND due_at IS NOT NULL ORDER BY due_at LIMIT ${maxLanesOfEndpoint}) l
  CROSS JOIN LATERAL (${head}) d`;

/** When the oldest delivery of the account was created that waits now; null where none does. */
export async function readOldestPending(sql: Sql, accountId: number): Promise<Date | null> {
  const [row] = await sql<{ oldest: string | null }>(oldestStatement, [accountId]);
  return momentOrNull(row?.oldest ?? null);
}
