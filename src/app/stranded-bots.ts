import type { Logger } from 'pino';
import type { Database } from '../postgres/database.ts';
import { notePlugins } from '../domain/plugins/presence.ts';
import type { Registry } from '../packages/registry.ts';

/** Bots that a start names in the log; of the rest it logs only the number. */
const maxWarned = 100;

/** Stores which bots have their plugin, and warns of those without: they do not answer until it is installed again. */
export async function warnOfStrandedBots(database: Database, registry: Registry, log: Logger): Promise<void> {
  const ids = registry.list().map(({ id }) => id);
  const { stranded, count } = await notePlugins(database.em(), ids, maxWarned);
  for (const bot of stranded) log.warn(bot, 'the plugin of this bot is not installed: people get its conversations');
  if (count > stranded.length)
    log.warn({ bots: count - stranded.length }, 'the plugins of more bots are not installed');
}
