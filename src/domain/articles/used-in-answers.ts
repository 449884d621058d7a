import type { Sql } from '../../postgres/sql.ts';

/** Days in which uses are counted, and runs of a bot that are looked at, the newest. */
const [days, runsAtMost] = [7, 10_000];
const dayMs = 24 * 3600 * 1000;

// Answers name their articles in `content_attributes`; offers are none.
const statement = `
  SELECT source.id::bigint AS id, count(*) AS uses
  FROM agent_bots b
  CROSS JOIN LATERAL (
    SELECT actions FROM bot_runs
    WHERE agent_bot_id = b.id AND account_id = $1 AND created_at >= $3 AND NOT handed_off
    ORDER BY created_at DESC, id DESC LIMIT ${runsAtMost}
  ) r
  CROSS JOIN LATERAL json_array_elements(r.actions) AS action
  CROSS JOIN LATERAL json_array_elements_text(
    CASE json_typeof(action->'content_attributes'->'sources') WHEN 'array'
      THEN action->'content_attributes'->'sources' ELSE '[]' END) AS source (id)
  WHERE b.plugin_id = 'ai-bot' AND (b.account_id = $1 OR b.account_id IS NULL)
    AND action->'content_attributes'->>'offer' IS NULL AND source.id = ANY ($2::text[])
  GROUP BY source.id`;

/** Returns by id how often each of these articles was the source of an AI bot's answer in the last seven days. */
export async function countUses(
  sql: Sql,
  accountId: number,
  { articleIds, now }: { articleIds: readonly number[]; now: Date },
): Promise<ReadonlyMap<number, number>> {
  if (articleIds.length === 0) return new Map();
  const since = new Date(now.getTime() - days * dayMs);
  const rows = await sql<{ id: number; uses: number }>(statement, [accountId, articleIds.map(String), since]);
  return new Map(rows.map(({ id, uses }) => [id, uses]));
}
