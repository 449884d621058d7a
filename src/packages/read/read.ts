import { basename, relative, resolve } from 'node:path';
import { printable } from '../../lib/text/printable.ts';
import { hashOf } from '../archive/hash.ts';
import { parseManifestText } from '../manifest/manifest.ts';
import type { PluginManifest } from '../manifest/manifest.ts';
import { dirsBeside, findNamesakes } from '../folders.ts';
import type { BundledPackage } from './dependencies.ts';
import { readAndKeep } from './kept-readings.ts';
import { readInProcess, readingBounds } from './read-in-process.ts';
import type { PackageReading, ReadingBounds } from './read-in-process.ts';
import { PluginError } from '../plugin-error.ts';
import type { Bundle } from '../../sandbox/run.ts';

/** A valid package. */
export interface ReadPackage {
  manifest: PluginManifest;
  /** The text of plugin.json. */
  manifestText: string;
  /** The code. Its hash covers the manifest too, so that it names what the plugin may do and what it does. */
  bundle: Bundle;
  /** The npm packages in the code. */
  packages: readonly BundledPackage[];
  /** Whether the code is known to load, since it was tried when the package was prepared. */
  loads?: boolean;
}

/**
 * Reads and validates one package of an author in a process of its own, whatever its folder is called; its npm packages may lie
 * in folders above. Throws a PluginError that names every problem.
 */
export async function readPackage(path: string, bounds: ReadingBounds = readingBounds): Promise<ReadPackage> {
  return acceptReading(await readInProcess(path, bounds, { isAuthors: true }));
}

/**
 * Like readPackage, for a folder of PLUGIN_DIRS, whose name must be the id; takes what was read of the same sources before from
 * `folders`, and keeps there what it reads.
 */
export async function readPackageOnce(
  path: string,
  folders: readonly string[],
  bounds: ReadingBounds = readingBounds,
  read = readInProcess,
): Promise<ReadPackage> {
  const { loads = false, ...reading } = await readAndKeep(path, folders, bounds, read);
  const pack = await acceptReading(reading, async ({ id }) => {
    const misnamed = await findMisnaming(path, id);
    return misnamed ? [misnamed.problem] : [];
  });
  return { ...pack, loads };
}

/**
 * Validates what was read of a package; `findMore` finds further problems of its manifest. Throws a PluginError that names
 * every problem.
 */
export async function acceptReading(
  { manifest: text, code, packages, problems }: PackageReading,
  findMore?: (manifest: PluginManifest) => Promise<readonly string[]>,
): Promise<ReadPackage> {
  if (text === null) throw new PluginError(problems);
  const manifest = readManifest(text);
  if (!('id' in manifest)) throw new PluginError([...manifest, ...problems]);
  const found = [...((await findMore?.(manifest)) ?? []), ...problems];
  if (found.length > 0) throw new PluginError(found);
  if (code === null) throw new PluginError(['The package has no code']);
  return { manifest, manifestText: text, bundle: { code, hash: hashOf(text, code) }, packages };
}

/** The sentence that says that two folders claim the same id. */
export function rivalryOf(id: string, one: string, other: string): string {
  return `The packages ${one} and ${other} claim the same id \`${id}\`: the one that was there first stays, the other is refused; rename one of them`;
}

/**
 * A sentence for each other folder that claims the package's id, beside it or in further folders of packages (absolute
 * paths).
 */
export async function findRivalry(path: string, id: string, dirs: readonly string[] = []): Promise<string[]> {
  const full = resolve(path);
  const rivals = await findNamesakes(path, id, dirsBeside(path, dirs));
  return rivals.map((rival) => rivalryOf(id, relative(resolve(full, '../..'), full), rival));
}

/** A folder that is not called by the id of its package. */
export interface Misnaming {
  problem: string;
  /** Whether another folder beside it is called by that id. */
  isTaken: boolean;
}

/** Compares a folder's name with the id of its package; null when they are the same. */
export async function findMisnaming(path: string, id: string): Promise<Misnaming | null> {
  const name = basename(resolve(path));
  if (id === name) return null;
  const [namesake] = await findNamesakes(path, id);
  const taken = namesake === undefined ? '' : `; \`${namesake}\` has that id`;
  const problem = `plugin.json: the id \`${id}\` must be the name of the folder, \`${printable(name)}\`${taken}`;
  return { problem, isTaken: namesake !== undefined };
}

function readManifest(text: string): PluginManifest | readonly string[] {
  try {
    return parseManifestText(text);
  } catch (error) {
    if (error instanceof PluginError) return error.problems.map(printable);
    throw error;
  }
}
