import { lstat, readdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** A folder of packages, one of PLUGIN_DIRS. */
export interface PluginDir {
  /** As people read it: relative to the root where it is inside, otherwise absolute. */
  name: string;
  path: string;
}

/** A folder with a plugin.json; `name` is the folder's name, and the id that its package must have. */
export interface PackageFolder {
  /** The name of the PluginDir. */
  source: string;
  name: string;
  /** The folder as people read it, for example `bots/faq`. */
  directory: string;
  path: string;
}

/** The folders of packages unless the configuration names others; of two packages with one id, the first wins by default. */
const defaultPluginDirs = ['plugins', 'bots'] as const;

/** The number of packages that are read from one parent folder. */
export const maxPackages = 500;

/** The folders of packages, by their paths: absolute, or relative to `root`. */
export function pluginDirsOf(root: string, paths: readonly string[] = defaultPluginDirs): PluginDir[] {
  const dirs = [...new Set(paths.map((path) => resolve(root, path)))];
  return dirs.map((path) => ({ path, name: nameOf(resolve(root), path) }));
}

/** The folders with a plugin.json in one folder of packages, ordered by name. */
export async function findPackageFolders({ name: source, path: parent }: PluginDir): Promise<PackageFolder[]> {
  const names = await readdir(parent).catch(() => []);
  const folders: PackageFolder[] = [];
  for (const name of names.toSorted((a, b) => (a < b ? -1 : 1))) {
    const path = join(parent, name);
    if (await isPackage(path)) folders.push({ source, name, directory: `${source}/${name}`, path });
  }
  return folders;
}

/** The other folders in `dirs` with the name `id`, as people read them; none if the package's own folder is not in `dirs`. */
export async function findNamesakes(path: string, id: string, dirs = dirsBeside(path)): Promise<string[]> {
  const full = resolve(path);
  if (!dirs.some((dir) => dir.path === dirname(full))) return [];
  const others = dirs.filter((dir) => join(dir.path, id) !== full);
  const found = await Promise.all(others.map((dir) => isPackage(join(dir.path, id))));
  return others.filter((_, index) => found[index]).map(({ name }) => `${name}/${id}`);
}

/**
 * The folders of packages of the installation in which the package's folder is, if they have their usual names, and `more`
 * (absolute paths).
 */
export function dirsBeside(path: string, more: readonly string[] = []): PluginDir[] {
  return pluginDirsOf(dirname(dirname(resolve(path))), [...defaultPluginDirs, ...more]);
}

function nameOf(root: string, path: string): string {
  const way = relative(root, path);
  const isInside = way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  return isInside ? way : path;
}

async function isPackage(path: string): Promise<boolean> {
  // lstat accepts any kind of file: a plugin.json that cannot be read makes a broken package, not no package.
  return lstat(join(path, 'plugin.json')).then(
    () => true,
    () => false,
  );
}
