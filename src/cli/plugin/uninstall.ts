import { createInterface } from 'node:readline/promises';
import { OperatorError } from '../../lib/operator-error.ts';
import { printAnswer } from '../print.ts';
import { serviceOf, type ServiceOptions } from '../service.ts';
import { pluginPath } from './plugin-path.ts';

/** The command `plugin uninstall`: asks before, unless `yes`. */
export async function uninstallPlugin(id: string, options: ServiceOptions & { yes?: boolean }): Promise<void> {
  const call = serviceOf(options);
  if (!options.yes && !(await isSure(id))) throw new OperatorError(`${id} stays installed.`);
  const answer = await call<Record<string, never>>('DELETE', pluginPath(id));
  printAnswer(answer, options, () => [`${id} is uninstalled.`]);
}

async function isSure(id: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new OperatorError(`Nobody can be asked here: add --yes to uninstall ${id}.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`Uninstall ${id}? (y/N) `)).trim());
  } finally {
    terminal.close();
  }
}
