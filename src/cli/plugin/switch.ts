import type { Shape } from '../../schemas.ts';
import { printAnswer } from '../terminal/print.ts';
import type { ServiceOptions } from '../service.ts';
import { pluginPath, pluginServiceOf } from './plugin-path.ts';

type Plugin = Shape<'resources/plugin'>;

/** The command `plugin enable`. */
export async function enablePlugin(id: string, options: ServiceOptions): Promise<void> {
  const plugin = await pluginServiceOf(id, options)<Plugin>('POST', `${pluginPath(id)}/enable`);
  printAnswer(plugin, options, ({ version }) => [`${id} ${version} is enabled.`]);
}

/** The command `plugin disable`. */
export async function disablePlugin(id: string, options: ServiceOptions): Promise<void> {
  const plugin = await pluginServiceOf(id, options)<Plugin>('POST', `${pluginPath(id)}/disable`);
  printAnswer(plugin, options, () => [
    `${id} is disabled: its bots do not answer, and people get their conversations.`,
  ]);
}
