import type { Logger } from 'pino';
import type { Database } from '../../postgres/database.ts';
import { findStranded } from '../../domain/plugins/presence.ts';
import { markBots } from '../../domain/plugins/versions.ts';
import type { PluginObstacle } from '../../records/conversations/serving-bot.ts';

/** Bots that a start names in the log; of the rest it logs only the number. */
const maxWarned = 100;

const sentences: Readonly<Record<PluginObstacle, string>> = {
  plugin_missing: 'the plugin of this bot is not installed: people get its conversations',
  plugin_disabled: 'the plugin of this bot is disabled: people get its conversations',
  config_invalid: 'the version of the plugin that runs refuses the settings of this bot: people get its conversations',
};

/** Stores which bots their plugin can run, and warns of the others: they do not answer until that is mended. */
export async function warnOfStrandedBots(database: Database, log: Logger): Promise<void> {
  await markBots(database.sql);
  const { stranded, count } = await findStranded(database.sql, maxWarned);
  for (const bot of stranded) log.warn(bot, sentences[bot.reason]);
  if (count > stranded.length) log.warn({ bots: count - stranded.length }, 'more bots cannot be run by their plugins');
}
