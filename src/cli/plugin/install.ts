import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { defaultArchiveBounds } from '../../config.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { unpack } from '../../packages/archive/unpack.ts';
import type { Shape } from '../../schemas.ts';
import { listOf, printAnswer } from '../terminal/print.ts';
import { serviceOf, type ServiceOptions } from '../service.ts';
import { packFolder } from './author/npm-pack.ts';
import { pluginPath } from './plugin-path.ts';
import { tellWaiting } from './waiting.ts';

type Plugin = Shape<'resources/plugin'>;

/** The command `plugin install`: installs a folder, or an archive made by npm pack, in the running service. */
export async function installPlugin(source: string, options: ServiceOptions): Promise<void> {
  const { name, archive } = await readSource(source);
  const call = serviceOf(options);
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(archive)], { type: 'application/gzip' }), name);
  const plugin = await call<Plugin>('POST', pluginPath(), form);
  printAnswer(plugin, options, () => tell(plugin, versionIn(archive)));
}

async function readSource(source: string): Promise<{ name: string; archive: Buffer }> {
  const found = await stat(source).catch(() => null);
  if (!found) throw new OperatorError(`There is no folder or archive ${source}.`);
  if (found.isDirectory()) return packFolder(source);
  return { name: basename(source), archive: await readFile(source) };
}

/** The version of the package in an archive that a service has taken. */
function versionIn(archive: Buffer): string | null {
  const unpacked = unpack(archive, defaultArchiveBounds);
  const manifest = 'files' in unpacked ? unpacked.files.get('plugin.json') : undefined;
  return manifest ? (JSON.parse(new TextDecoder().decode(manifest)) as { version: string }).version : null;
}

function tell(plugin: Plugin, given: string | null): string[] {
  const { id, version, enabled, permissions, pending } = plugin;
  if (given !== null && given !== version && given !== pending?.version) {
    return [
      `${id} ${given} was installed before, with the same content: nothing is changed. It is not in use; ${version} runs.`,
      `Have it run with: npx switchboard plugin rollback ${id} ${given}`,
      ...tellWaiting(plugin),
    ];
  }
  if (pending) return tellWaiting(plugin);
  const state = enabled ? 'is installed' : `is installed, but disabled (npx switchboard plugin enable ${id})`;
  return [`${id} ${version} ${state}.`, ...listOf('It may:', permissions)];
}
