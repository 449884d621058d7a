import { sql, type Executor } from '../../postgres/sql.ts';

/** A bot whose plugin is not installed. */
export interface StrandedBot {
  /** Null for a system bot. */
  account: number | null;
  bot: number;
  plugin: string;
}

/**
 * Stores for each plugin bot whether its plugin is installed; a bot without it does not answer. Returns the bots without
 * their plugin, at most `limit`, and their total number.
 */
export async function notePlugins(
  executor: Executor,
  pluginIds: readonly string[],
  limit: number,
): Promise<{ stranded: StrandedBot[]; count: number }> {
  await sql(
    executor,
    `UPDATE agent_bots SET installed = plugin_id = ANY ($1)
     WHERE kind = 'plugin' AND installed <> (plugin_id = ANY ($1))`,
    [pluginIds],
  );
  const rows = await sql<StrandedBot & { count: number }>(
    executor,
    `SELECT account_id AS account, id AS bot, plugin_id AS plugin, count(*) OVER () AS count
     FROM agent_bots WHERE kind = 'plugin' AND NOT installed ORDER BY id LIMIT $1`,
    [limit],
  );
  return { stranded: rows.map(({ account, bot, plugin }) => ({ account, bot, plugin })), count: rows[0]?.count ?? 0 };
}
