import { OperatorError } from '../../../lib/operator-error.ts';
import { printAnswer } from '../../terminal/print.ts';
import { serviceOf, type ServiceOptions } from '../../service.ts';
import { tellInstalled, uploadPlugin } from '../install.ts';
import { pluginServiceOf } from '../plugin-path.ts';
import { fetchFromNpm } from './npm-source.ts';
import { isOutdated, lookAtNpmPlugins, type NpmPlugin } from './npm-plugins.ts';

/** The result for a plugin: what there is to say, and whether it failed. */
interface Updated {
  id: string;
  from: string;
  to: string | null;
  ok: boolean;
  lines: string[];
}

/**
 * The command `plugin update`: installs what the range of each plugin's package names now, or of one. What may do more waits for
 * approval, as after `plugin install`. One that fails keeps none of the others from being updated; the exit code is 1 then.
 */
export async function updatePlugins(id: string | undefined, options: ServiceOptions): Promise<void> {
  const call = id === undefined ? serviceOf(options) : pluginServiceOf(id, options);
  const found = await lookAtNpmPlugins(call, id);
  if (id !== undefined && found.length === 0)
    throw new OperatorError(
      `${id} did not come from npm: install its new version with npx switchboard plugin install.`,
    );
  const updated: Updated[] = [];
  for (const each of found) updated.push(await update(each, call));
  if (updated.some(({ ok }) => !ok)) process.exitCode = 1;
  printAnswer({ payload: updated.map(({ lines, ...rest }) => ({ ...rest, message: lines.join('\n') })) }, options, () =>
    updated.length === 0 ? ['No plugin came from npm: nothing is updated.'] : updated.flatMap(({ lines }) => lines),
  );
}

async function update(found: NpmPlugin, call: ReturnType<typeof serviceOf>): Promise<Updated> {
  const { plugin, origin, source, wanted, problem } = found;
  const { id, version, pending } = plugin;
  const about = { id, from: version, to: wanted };
  if (problem !== null) return { ...about, ok: false, lines: [`${id}: ${problem}`] };
  if (wanted === null) return { ...about, ok: false, lines: [`${id}: npm has no version for ${origin} any more.`] };
  if (!isOutdated(found)) {
    const state = pending?.version === wanted ? 'waits for approval' : 'is up to date';
    return { ...about, ok: true, lines: [`${id} ${wanted} ${state}.`] };
  }
  try {
    const fetched = await fetchFromNpm({ name: source.name, range: wanted });
    const updated = await uploadPlugin(call, { name: `${id}.tgz`, archive: fetched.archive, origin });
    return { ...about, ok: updated.id === id, lines: tellInstalled(updated, fetched.version) };
  } catch (error) {
    return { ...about, ok: false, lines: [`${id}: ${error instanceof Error ? error.message : String(error)}`] };
  }
}
