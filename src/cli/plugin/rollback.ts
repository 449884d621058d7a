import { OperatorError } from '../../lib/operator-error.ts';
import type { CallService } from '../../lib/service-client.ts';
import type { Shape } from '../../schemas.ts';
import { printAnswer } from '../terminal/print.ts';
import { readList, type ServiceOptions } from '../service.ts';
import { pluginPath, pluginServiceOf } from './plugin-path.ts';
import { tellWaiting } from './waiting.ts';

type Plugin = Shape<'resources/plugin'>;
type Version = Shape<'resources/plugin-version'>;

/** The command `plugin rollback`: has the plugin run another installed version, by default the one that ran before. */
export async function rollBackPlugin(id: string, version: string | undefined, options: ServiceOptions): Promise<void> {
  const call = pluginServiceOf(id, options);
  const wanted = version ?? (await findPrevious(call, id));
  const plugin = await call<Plugin>('PATCH', pluginPath(id), { version: wanted });
  printAnswer(plugin, options, () => (plugin.pending ? tellWaiting(plugin) : [`${id} ${plugin.version} runs.`]));
}

async function findPrevious(call: CallService, id: string): Promise<string> {
  const { payload } = await readList<Version>(call, `${pluginPath(id)}/versions`);
  const ranBefore = payload.filter(({ active, activated_at: at }) => !active && at !== null);
  const [latest] = ranBefore.sort((one, other) => (other.activated_at ?? 0) - (one.activated_at ?? 0));
  if (latest) return latest.version;
  const names = payload.map(({ version }) => version).join(', ');
  throw new OperatorError(`No other version of ${id} has run here. Installed are: ${names}. Name one of them.`);
}
