import type { Sql } from '../../postgres/sql.ts';
import { obstacleOf, type PluginObstacle } from '../../records/conversations/serving-bot.ts';

/** A bot whose plugin cannot run. */
export interface StrandedBot {
  /** Null for a system bot. */
  account: number | null;
  bot: number;
  plugin: string;
  reason: PluginObstacle;
}

/** The bots whose plugin cannot run them, at most `limit`, and their total number. */
export async function findStranded(sql: Sql, limit: number): Promise<{ stranded: StrandedBot[]; count: number }> {
  const rows = await sql<StrandedBot & { count: number }>(
    `SELECT account_id AS account, id AS bot, plugin_id AS plugin, reason, count(*) OVER () AS count
     FROM agent_bots b CROSS JOIN LATERAL (SELECT ${obstacleOf('b')} AS reason) r
     WHERE plugin_id IS NOT NULL AND reason IS NOT NULL ORDER BY id LIMIT $1`,
    [limit],
  );
  const stranded = rows.map(({ account, bot, plugin, reason }) => ({ account, bot, plugin, reason }));
  return { stranded, count: rows[0]?.count ?? 0 };
}
