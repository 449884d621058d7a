/** A plugin bot, as far as its runs need it. */
export interface BotToRun {
  id: number;
  name: string;
  avatarUrl: string | null;
  /** The plugin that the bot runs. */
  pluginId: string | null;
  /** The account's settings of the plugin. */
  config: Record<string, unknown>;
}

/** The columns of a bot to run, from `r` (agent_bots). */
export const botToRunColumns = `
  r.id AS run_bot_id, r.name AS run_bot_name, r.avatar_url AS run_bot_avatar, r.plugin_id AS run_bot_plugin,
  r.config AS run_bot_config`;

/** A row with these columns. */
export interface BotToRunRow {
  run_bot_id: number;
  run_bot_name: string;
  run_bot_avatar: string | null;
  run_bot_plugin: string | null;
  run_bot_config: Record<string, unknown>;
}

/** The bot of a row. */
export function toBotToRun(row: BotToRunRow): BotToRun {
  return {
    id: row.run_bot_id,
    name: row.run_bot_name,
    avatarUrl: row.run_bot_avatar,
    pluginId: row.run_bot_plugin,
    config: row.run_bot_config,
  };
}
