import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { bundlePlugin } from './bundle.ts';
import { PluginError, readManifest } from './manifest.ts';
import type { Manifest } from './manifest.ts';
import type { Bundle } from './run-types.ts';

/** A package that can be run. `source` is the folder it stands in: what the platform ships, or a rule bot. */
export interface PluginPackage {
  id: string;
  source: 'plugins' | 'bots';
  /** Relative to the root, for example `bots/faq`. */
  directory: string;
  manifest: Manifest;
  bundle: Bundle;
}

/** A package that was left out, and every reason why. */
export interface BrokenPackage {
  directory: string;
  problems: readonly string[];
}

/** The packages of an installation as they were when it was read. */
export interface Registry {
  get(id: string): PluginPackage | undefined;
  /** In order of their ids. */
  list(): PluginPackage[];
  readonly broken: readonly BrokenPackage[];
}

const sources = ['plugins', 'bots'] as const;

async function isPackage(path: string): Promise<boolean> {
  const found = await stat(join(path, 'plugin.json')).catch(() => null);
  return found?.isFile() ?? false;
}

async function findPackages(root: string, source: string): Promise<string[]> {
  const names = await readdir(join(root, source)).catch(() => []);
  const found = await Promise.all(names.map((name) => isPackage(join(root, source, name))));
  return names
    .filter((_, index) => found[index])
    .sort()
    .map((name) => `${source}/${name}`);
}

/** Reads one package directory. Throws a PluginError that names every problem. */
export async function readPackage(path: string): Promise<{ manifest: Manifest; bundle: Bundle }> {
  const manifest = await readManifest(path);
  return { manifest, bundle: await bundlePlugin(path, manifest.main) };
}

/**
 * Reads `plugins/<name>/plugin.json` and `bots/<name>/plugin.json` below `root`. A broken package is listed under
 * `broken` and never stops the others; of two with one id the first counts, `plugins` before `bots`.
 */
export async function readRegistry(root: string): Promise<Registry> {
  const packages = new Map<string, PluginPackage>();
  const broken: BrokenPackage[] = [];

  async function add(source: 'plugins' | 'bots', directory: string): Promise<void> {
    try {
      const { manifest, bundle } = await readPackage(join(root, directory));
      const other = packages.get(manifest.id);
      if (other) throw new PluginError([`The id ${manifest.id} is taken by ${other.directory}`]);
      packages.set(manifest.id, { id: manifest.id, source, directory, manifest, bundle });
    } catch (error) {
      const problems = error instanceof PluginError ? error.problems : [String(error)];
      broken.push({ directory, problems });
    }
  }

  for (const source of sources) {
    for (const directory of await findPackages(root, source)) await add(source, directory);
  }
  return {
    get: (id) => packages.get(id),
    list: () => [...packages.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    broken,
  };
}
