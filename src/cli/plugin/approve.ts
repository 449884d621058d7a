import { OperatorError } from '../../lib/operator-error.ts';
import { printable } from '../../lib/text/printable.ts';
import type { CallService } from '../../lib/service-client.ts';
import type { Shape } from '../../schemas.ts';
import { isSure } from '../terminal/confirm.ts';
import { listOf, printAnswer } from '../terminal/print.ts';
import type { ServiceOptions } from '../service.ts';
import { pluginPath, pluginServiceOf } from './plugin-path.ts';
import { refusedBots } from './refused-bots.ts';
import { tellWaiting } from './waiting.ts';

type Plugin = Shape<'resources/plugin'>;
type Waiting = Plugin & { pending: NonNullable<Plugin['pending']> };
type Options = ServiceOptions & { hash?: string };

/**
 * The command `plugin approve`: shows the new permissions of the pending version, and approves it after a confirmation in the
 * terminal. With `hash` it approves without a question, but only the version with that hash; with `yes` any pending version.
 */
export async function approvePlugin(id: string, options: Options & { yes?: boolean }): Promise<void> {
  const call = pluginServiceOf(id, options);
  const plugin = await readWaiting(call, id);
  const { pending } = plugin;
  if (options.hash === undefined && !options.yes) await ask(plugin);
  const answer = await decide(call, plugin, { decision: 'approve', hash: options.hash });
  printAnswer(answer, options, () => [
    `${id} ${pending.version} is approved and runs.`,
    ...listOf('From now on it may too:', pending.widens),
    ...listOf('These bots do not answer until they get other settings:', refusedBots(pending)),
  ]);
}

// Only the version that was shown is approved: the service refuses another one that came meanwhile.
async function ask(plugin: Waiting): Promise<void> {
  const { id, pending } = plugin;
  const told = tellWaiting(plugin).map(printable).join('\n');
  if (process.stdin.isTTY) console.error(told);
  const answer = await isSure(`Approve ${id} ${pending.version}?`);
  if (answer) return;
  if (answer === null) throw new OperatorError(`${told}\nNobody can be asked here.`);
  throw new OperatorError(`${id} ${pending.version} still waits.`);
}

/** The command `plugin reject`: withdraws the pending version, with `hash` only if that is its hash. */
export async function rejectPlugin(id: string, options: Options): Promise<void> {
  const call = pluginServiceOf(id, options);
  const plugin = await readWaiting(call, id);
  const { pending } = plugin;
  const answer = await decide(call, plugin, { decision: 'reject', hash: options.hash });
  printAnswer(answer, options, ({ version }) => [
    `${id} ${pending.version} is withdrawn; ${version} goes on. It stays installed: npx switchboard plugin rollback ${id} ${pending.version} asks for it again.`,
  ]);
}

function decide(
  call: CallService,
  { id, pending: { version, hash } }: Waiting,
  { decision, hash: named = hash }: { decision: 'approve' | 'reject'; hash: string | undefined },
): Promise<Plugin> {
  return call<Plugin>('POST', `${pluginPath(id)}/${decision}`, { version, hash: named });
}

async function readWaiting(call: CallService, id: string): Promise<Waiting> {
  const plugin = await call<Plugin>('GET', pluginPath(id));
  const { pending } = plugin;
  if (pending) return { ...plugin, pending };
  throw new OperatorError(`No version of ${id} waits for approval: npx switchboard plugin list shows what does.`);
}
