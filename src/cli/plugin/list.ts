import type { Shape } from '../../schemas.ts';
import { printAnswer, tableOf } from '../terminal/print.ts';
import { readList, serviceOf, type ServiceOptions } from '../service.ts';
import { pluginPath } from './plugin-path.ts';

type Plugin = Shape<'resources/plugin'>;

/** The command `plugin list`: the plugins of the running service. */
export async function listPlugins(options: ServiceOptions): Promise<void> {
  const list = await readList<Plugin>(serviceOf(options), pluginPath());
  printAnswer(list, options, ({ payload }) =>
    payload.length === 0
      ? ['No plugin is installed. Install one with: npx switchboard plugin install DIR']
      : tableOf(['ID', 'VERSION', 'STATE', 'FROM', 'NAME'], payload.map(cellsOf)),
  );
}

function cellsOf({ id, version, enabled, pending, source, directory, origin, name }: Plugin): string[] {
  const state = enabled ? 'enabled' : 'disabled';
  const waiting = pending ? `, ${pending.version} waits for approval` : '';
  return [id, version, state + waiting, directory ?? origin ?? source, name];
}
