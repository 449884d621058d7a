import { printAnswer, tableOf } from '../../terminal/print.ts';
import { serviceOf, type ServiceOptions } from '../../service.ts';
import { lookAtNpmPlugins, type NpmPlugin } from './npm-plugins.ts';

/** The command `plugin outdated`: lists plugins that came from the npm registry. The exit code is 1 if it did not tell all. */
export async function listOutdated(options: ServiceOptions): Promise<void> {
  const found = await lookAtNpmPlugins(serviceOf(options));
  const payload = found.map(toRecord);
  if (found.some(({ problem }) => problem !== null)) process.exitCode = 1;
  printAnswer({ payload }, options, () =>
    found.length === 0
      ? ['No plugin came from npm. Install one with: npx switchboard plugin install npm:@SCOPE/NAME']
      : [...tableOf(['ID', 'INSTALLED', 'WANTED', 'LATEST', 'FROM'], found.map(cellsOf)), ...found.flatMap(problemOf)],
  );
}

function toRecord({ plugin, origin, wanted, latest, problem }: NpmPlugin) {
  const { id, version, pending } = plugin;
  return { id, installed: version, pending: pending?.version ?? null, wanted, latest, origin, problem };
}

function cellsOf({ plugin, origin, wanted, latest }: NpmPlugin): string[] {
  const { id, version, pending } = plugin;
  const waiting = pending ? ` (${pending.version} waits for approval)` : '';
  return [id, version + waiting, wanted ?? '?', latest ?? '?', origin];
}

function problemOf({ plugin, problem }: NpmPlugin): string[] {
  return problem === null ? [] : [`${plugin.id}: ${problem}`];
}
