import type { Logger } from 'pino';
import type { Database } from '../postgres/database.ts';
import { findStranded } from '../domain/plugins/presence.ts';
import { markBots } from '../domain/plugins/versions.ts';

/** Bots that a start names in the log; of the rest it logs only the number. */
const maxWarned = 100;

/** Stores which bots have their plugin, and warns of those without their plugin: they do not answer until it is installed again. */
export async function warnOfStrandedBots(database: Database, log: Logger): Promise<void> {
  await markBots(database.em());
  const { stranded, count } = await findStranded(database.em(), maxWarned);
  for (const bot of stranded) log.warn(bot, 'the plugin of this bot is not installed: people get its conversations');
  if (count > stranded.length)
    log.warn({ bots: count - stranded.length }, 'the plugins of more bots are not installed');
}
