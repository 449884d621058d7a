import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** The parent folder of a package: `plugins` holds shipped packages, `bots` rule bots. */
export type Source = 'plugins' | 'bots';

/** A folder with a plugin.json; `name` is the folder's name, and the id that its package must have. */
export interface PackageFolder {
  source: Source;
  name: string;
  /** Relative to the root, for example `bots/faq`. */
  directory: string;
}

/** The parent folders of packages; of two packages with the same id, the one in the first folder wins by default. */
export const sources = ['plugins', 'bots'] as const;

/** The number of packages that are read from one parent folder. */
export const maxPackages = 500;

/** The folders with a plugin.json in one parent folder, ordered by name. */
export async function findPackageFolders(root: string, source: Source): Promise<PackageFolder[]> {
  const names = await readdir(join(root, source)).catch(() => []);
  const folders: PackageFolder[] = [];
  for (const name of names.toSorted((a, b) => (a < b ? -1 : 1))) {
    if (await isPackage(join(root, source, name))) folders.push({ source, name, directory: `${source}/${name}` });
  }
  return folders;
}

/** The other folders of the same installation with the name `id`; `path` is the package's own folder. */
export async function findNamesakes(path: string, id: string): Promise<string[]> {
  const full = resolve(path);
  const [source, root] = [basename(dirname(full)), dirname(dirname(full))];
  if (!sources.some((known) => known === source)) return [];
  const others = sources.map((other) => `${other}/${id}`).filter((other) => join(root, other) !== full);
  const found = await Promise.all(others.map((other) => isPackage(join(root, other))));
  return others.filter((_, index) => found[index]);
}

async function isPackage(path: string): Promise<boolean> {
  // lstat accepts any kind of file: a plugin.json that cannot be read makes a broken package, not no package.
  return lstat(join(path, 'plugin.json')).then(
    () => true,
    () => false,
  );
}
