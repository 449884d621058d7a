import { OperatorError } from '../../lib/operator-error.ts';
import type { Shape } from '../../schemas.ts';
import { listOf, printAnswer } from '../print.ts';
import { serviceOf, type ServiceOptions } from '../service.ts';
import { pluginPath } from './plugin-path.ts';

type Plugin = Shape<'resources/plugin'>;

/** The command `plugin approve`: approves the version that waits, with `hash` only if that is its hash. */
export async function approvePlugin(id: string, options: ServiceOptions & { hash?: string }): Promise<void> {
  const call = serviceOf(options);
  const { pending } = await call<Plugin>('GET', pluginPath(id));
  if (!pending)
    throw new OperatorError(`No version of ${id} waits for approval: npx switchboard plugin list shows what does.`);
  const { version, hash, widens } = pending;
  const approved = await call<Plugin>('POST', `${pluginPath(id)}/approve`, { version, hash: options.hash ?? hash });
  printAnswer(approved, options, () => [
    `${id} ${version} is approved and runs.`,
    ...listOf('From now on it may too:', widens),
  ]);
}
