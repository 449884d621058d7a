import { openConfig } from '../packages/manifest/manifest.ts';
import type { BotToRun } from '../records/bots/bot-to-run.ts';
import type { InstalledPlugin, InstalledPlugins } from './installed-plugins.ts';

/** The version of its plugin that a bot runs; the settings that it gets; what the version refuses of them. */
export interface FittingPlugin {
  /** Null when the plugin cannot run. */
  pack: InstalledPlugin | null;
  config: Record<string, unknown>;
  problems: readonly string[];
}

/**
 * Finds the version that a bot runs, with the bot's settings. Settings that it refuses may have been given for one that this
 * process has not heard of, as a part that it lacks may be of one: then it looks again.
 */
export async function findFitting(
  plugins: Pick<InstalledPlugins, 'find' | 'refresh'>,
  bot: Pick<BotToRun, 'pluginId' | 'config' | 'part'>,
): Promise<FittingPlugin> {
  const find = () => plugins.find(bot.pluginId ?? '', bot.part);
  const first = judged(await find(), bot);
  if (first.pack && first.problems.length === 0) return first;
  await plugins.refresh();
  return judged(await find(), bot);
}

function judged(pack: InstalledPlugin | null, { config: settings }: Pick<BotToRun, 'config'>): FittingPlugin {
  if (!pack) return { pack, config: {}, problems: [] };
  const { config, problems } = openConfig(pack.manifest, settings);
  return { pack, config, problems: problems.map(({ message }) => message) };
}
