import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { defaultArchiveBounds } from '../../config.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { unpack } from '../../packages/archive/unpack.ts';
import type { CallService } from '../../lib/service-client.ts';
import type { Shape } from '../../schemas.ts';
import { listOf, printAnswer } from '../terminal/print.ts';
import { serviceOf, type ServiceOptions } from '../service.ts';
import { packFolder } from './author/npm-pack.ts';
import { packageLines } from './package-lines.ts';
import { pluginPath } from './plugin-path.ts';
import { fetchFromNpm, isNpmSource, parseNpmSource } from './registry/npm-source.ts';
import { tellWaiting } from './waiting.ts';

type Plugin = Shape<'resources/plugin'>;

/** The archive of a plugin to install. */
interface Archive {
  name: string;
  archive: Buffer;
  /** `npm:NAME@RANGE` for one from the npm registry. */
  origin?: string;
}

/**
 * The command `plugin install`: installs a folder, an archive made by npm pack, or a package of the npm registry in the running
 * service.
 */
export async function installPlugin(source: string, options: ServiceOptions): Promise<void> {
  const found = await readSource(source);
  const plugin = await uploadPlugin(serviceOf(options), found);
  printAnswer(plugin, options, () => tellInstalled(plugin, versionIn(found.archive)));
}

/** Uploads an archive to the service. */
export function uploadPlugin(call: CallService, { name, archive, origin }: Archive): Promise<Plugin> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(archive)], { type: 'application/gzip' }), name);
  if (origin !== undefined) form.set('origin', origin);
  return call<Plugin>('POST', pluginPath(), form);
}

async function readSource(source: string): Promise<Archive> {
  if (isNpmSource(source)) {
    const { archive, origin } = await fetchFromNpm(parseNpmSource(source));
    return { name: 'plugin.tgz', archive, origin };
  }
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

/** Returns lines about a plugin after the installation of a version; null for a version that is not known. */
export function tellInstalled(plugin: Plugin, given: string | null): string[] {
  const { id, version, enabled, permissions, packages, pending } = plugin;
  if (given !== null && given !== version && given !== pending?.version) {
    return [
      `${id} ${given} was installed before, with the same content: nothing is changed. It is not in use; ${version} runs.`,
      `Have it run with: npx switchboard plugin rollback ${id} ${given}`,
      ...tellWaiting(plugin),
    ];
  }
  if (pending) return tellWaiting(plugin);
  const state = enabled ? 'is installed' : `is installed, but disabled (npx switchboard plugin enable ${id})`;
  return [
    `${id} ${version} ${state}.`,
    ...listOf('It may:', permissions),
    ...listOf('npm packages in it:', packageLines(packages)),
  ];
}
