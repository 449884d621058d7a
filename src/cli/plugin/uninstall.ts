import { OperatorError } from '../../lib/operator-error.ts';
import { isSure } from '../terminal/confirm.ts';
import { printAnswer } from '../terminal/print.ts';
import type { ServiceOptions } from '../service.ts';
import { pluginPath, pluginServiceOf } from './plugin-path.ts';

/** The command `plugin uninstall`: asks before, unless `yes`. */
export async function uninstallPlugin(id: string, options: ServiceOptions & { yes?: boolean }): Promise<void> {
  const call = pluginServiceOf(id, options);
  if (!options.yes) await ask(id);
  const answer = await call<Record<string, never>>('DELETE', pluginPath(id));
  printAnswer(answer, options, () => [`${id} is uninstalled.`]);
}

async function ask(id: string): Promise<void> {
  const answer = await isSure(`Uninstall ${id}?`);
  if (answer) return;
  if (answer === null) throw new OperatorError(`Nobody can be asked here: add --yes to uninstall ${id}.`);
  throw new OperatorError(`${id} stays installed.`);
}
