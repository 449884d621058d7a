import { countAttempts, sampleWaiting, seeAttempts } from '../../deliveries/log/activity.ts';
import { addingMeasured, hourOf, measures } from '../../lib/report-hours.ts';
import type { Database } from '../../postgres/database.ts';
import { sweep } from './sweep.ts';

const batch = 1000;
// Batches of one account, or of attempts, in one sweep: the events of an upgraded database are counted within hours.
const batchesPerSweep = 50;
const pageSize = 500;
const deletedAtOnce = 10_000;

/**
 * Adds events and attempts since the last call to the hours of each account; events in the order of its feed. Counting here
 * and not in the verbs saves a write for each message.
 */
export async function countActivity(database: Database): Promise<void> {
  await sweep<Behind>(database, {
    name: 'counting events',
    nameOf: ({ id }) => `account ${id}`,
    page: (after) => database.sql<Behind>(behindStatement, [after?.id ?? 0, pageSize]),
    pageSize,
    atOnce: 1,
    work: async ([account]) => (account ? countEvents(database, account) : 0),
  });
  for (let done = 0; done < batchesPerSweep; done++) if (!(await countAttempts(database.sql))) break;
  await seeAttempts(database.sql);
  // With very many pending deliveries the sample may exceed the statement timeout: only it is missing then, with a log line.
  await sampleWaiting(database.sql).catch(database.failed);
}

/** Deletes hours older than `days`; returns how many rows. */
export async function deleteOldCounts(database: Database, days: number): Promise<number> {
  let sum = 0;
  for (let count = deletedAtOnce; count === deletedAtOnce; sum += count)
    count = (await database.sql(deleteStatement, [days])).length;
  return sum;
}

const deleteStatement = `
  DELETE FROM report_hours WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM report_hours WHERE hour < now() - make_interval(days => $1) LIMIT ${deletedAtOnce})) RETURNING 1`;

interface Behind {
  id: number;
  is_new: boolean;
}

const behindStatement = `
  SELECT h.account_id AS id, r.account_id IS NULL AS is_new
  FROM event_feed_heads h LEFT JOIN report_feeds r USING (account_id)
  WHERE h.account_id > $1 AND h.position > coalesce(r.position, h.dropped) ORDER BY h.account_id LIMIT $2`;
const beginStatement = 'INSERT INTO report_feeds (account_id, position) VALUES ($1, 0) ON CONFLICT DO NOTHING';

async function countEvents(database: Database, { id, is_new: isNew }: Behind): Promise<number> {
  if (isNew) await database.sql(beginStatement, [id]);
  for (let done = 0; done < batchesPerSweep; done++) {
    const [counted] = await database.sql<{ rows: number }>(eventsStatement, [id]);
    if ((counted?.rows ?? 0) < batch) break;
  }
  return 1;
}

// A single statement commits counts and position together; a batch that another process holds is skipped. The last events of
// a feed may be gone with their contact: the end is the head's. Messages of the service itself (`sender` is null) are not
// counted.
const eventsStatement = `
  WITH place AS MATERIALIZED (
    SELECT position FROM report_feeds WHERE account_id = $1 FOR UPDATE SKIP LOCKED
  ), batch AS MATERIALIZED (
    SELECT f.position, e.name, e.created_at, e.account_payload AS body
    FROM place CROSS JOIN LATERAL (
      SELECT position, event_id FROM event_feed WHERE account_id = $1 AND position > place.position
      ORDER BY position LIMIT ${batch}) f
    CROSS JOIN LATERAL (
      SELECT name, created_at, account_payload FROM events WHERE account_id = $1 AND id = f.event_id LIMIT 1) e
  ), measured AS (
    SELECT $1::bigint AS account_id, ${hourOf('created_at')} AS hour, '${measures.rating}' || (change->'current'->>'csat_score') AS measure
    FROM batch CROSS JOIN LATERAL (SELECT body->'changed_attributes'->'custom_attributes' AS change) c
    WHERE name = 'conversation_updated' AND change->'current'->>'csat_score' IN ('1', '2', '3', '4', '5')
      AND change->'current'->>'csat_score' IS DISTINCT FROM change->'previous'->>'csat_score'
    UNION ALL
    SELECT $1::bigint, ${hourOf('created_at')}, CASE
      WHEN name = 'message_created' THEN CASE
        WHEN body->>'private' = 'true' THEN NULL
        WHEN body->>'message_type' = 'incoming' THEN '${measures.customers}'
        WHEN body->'sender'->>'type' = 'AgentBot' THEN '${measures.bots}'
        WHEN body->'sender'->>'type' = 'User' THEN '${measures.people}' END
      ELSE '${measures.handoff}' || (body->'changed_attributes'->'handoff_reason'->>'current') END
    FROM batch WHERE name IN ('message_created', 'conversation_updated', 'conversation_status_changed')
  ), counted AS (${addingMeasured}
  ), moved AS (
    UPDATE report_feeds r SET position = greatest(r.position, CASE WHEN b.rows < ${batch} THEN h.position ELSE b.last END)
    FROM place, event_feed_heads h, (SELECT count(*) AS rows, max(position) AS last FROM batch) b
    WHERE r.account_id = $1 AND h.account_id = $1
  )
  SELECT count(*)::int AS rows FROM batch`;
