import type { CallService } from '../../../lib/service-client.ts';
import type { Shape } from '../../../schemas.ts';
import { readList } from '../../service.ts';
import { pluginPath } from '../plugin-path.ts';
import { lookAtNpm, parseNpmSource, type NpmSource } from './npm-source.ts';

type Plugin = Shape<'resources/plugin'>;

/** A plugin that came from the npm registry, and what there is now; `problem` says why the registry did not tell. */
export interface NpmPlugin {
  plugin: Plugin;
  origin: string;
  source: NpmSource;
  wanted: string | null;
  latest: string | null;
  problem: string | null;
}

/** Looks at the registry for each plugin that came from there, one after the other; with `id` for that one alone. */
export async function lookAtNpmPlugins(call: CallService, id?: string): Promise<NpmPlugin[]> {
  const plugins =
    id === undefined
      ? (await readList<Plugin>(call, pluginPath())).payload
      : [await call<Plugin>('GET', pluginPath(id))];
  const found: NpmPlugin[] = [];
  for (const plugin of plugins) {
    const { origin } = plugin;
    if (origin === null) continue;
    const source = parseNpmSource(origin);
    found.push({ plugin, origin, source, ...(await lookAt(source)) });
  }
  return found;
}

/** Whether the registry names another version than the one that runs or waits. */
export function isOutdated({ plugin, wanted }: NpmPlugin): boolean {
  return wanted !== null && wanted !== plugin.version && wanted !== plugin.pending?.version;
}

async function lookAt(source: NpmSource): Promise<Pick<NpmPlugin, 'wanted' | 'latest' | 'problem'>> {
  try {
    return { ...(await lookAtNpm(source)), problem: null };
  } catch (error) {
    return { wanted: null, latest: null, problem: error instanceof Error ? error.message : String(error) };
  }
}
