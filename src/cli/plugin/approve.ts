import { OperatorError } from '../../lib/operator-error.ts';
import type { CallService } from '../../lib/service-client.ts';
import type { Shape } from '../../schemas.ts';
import { listOf, printAnswer } from '../print.ts';
import { serviceOf, type ServiceOptions } from '../service.ts';
import { pluginPath } from './plugin-path.ts';
import { refusedBots } from './refused-bots.ts';

type Plugin = Shape<'resources/plugin'>;
type Pending = NonNullable<Plugin['pending']>;
type Options = ServiceOptions & { hash?: string };

/** The command `plugin approve`: approves the version that waits, with `hash` only if that is its hash. */
export async function approvePlugin(id: string, options: Options): Promise<void> {
  const { pending, answer } = await decide(id, options, 'approve');
  printAnswer(answer, options, () => [
    `${id} ${pending.version} is approved and runs.`,
    ...listOf('From now on it may too:', pending.widens),
    ...listOf('These bots do not answer until they get other settings:', refusedBots(pending)),
  ]);
}

/** The command `plugin reject`: withdraws the version that waits, with `hash` only if that is its hash. */
export async function rejectPlugin(id: string, options: Options): Promise<void> {
  const { pending, answer } = await decide(id, options, 'reject');
  printAnswer(answer, options, ({ version }) => [
    `${id} ${pending.version} is withdrawn; ${version} goes on. It stays installed: npx switchboard plugin rollback ${id} ${pending.version} asks for it again.`,
  ]);
}

async function decide(
  id: string,
  options: Options,
  decision: 'approve' | 'reject',
): Promise<{ pending: Pending; answer: Plugin }> {
  const call = serviceOf(options);
  const pending = await readPending(call, id);
  const { version, hash } = pending;
  const answer = await call<Plugin>('POST', `${pluginPath(id)}/${decision}`, { version, hash: options.hash ?? hash });
  return { pending, answer };
}

async function readPending(call: CallService, id: string): Promise<Pending> {
  const { pending } = await call<Plugin>('GET', pluginPath(id));
  if (pending) return pending;
  throw new OperatorError(`No version of ${id} waits for approval: npx switchboard plugin list shows what does.`);
}
