import { sql, type Executor } from '../../postgres/sql.ts';

/** A bot whose plugin cannot run. */
export interface StrandedBot {
  /** Null for a system bot. */
  account: number | null;
  bot: number;
  plugin: string;
}

/** The bots whose plugin is missing or disabled, at most `limit`, and their total number. */
export async function findStranded(
  executor: Executor,
  limit: number,
): Promise<{ stranded: StrandedBot[]; count: number }> {
  const rows = await sql<StrandedBot & { count: number }>(
    executor,
    `SELECT account_id AS account, id AS bot, plugin_id AS plugin, count(*) OVER () AS count
     FROM agent_bots WHERE kind = 'plugin' AND NOT installed ORDER BY id LIMIT $1`,
    [limit],
  );
  return { stranded: rows.map(({ account, bot, plugin }) => ({ account, bot, plugin })), count: rows[0]?.count ?? 0 };
}
