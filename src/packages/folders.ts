import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** The folder that a package stands in: what the platform ships, or a rule bot. */
export type Source = 'plugins' | 'bots';

/** A folder with a plugin.json: `name` is the folder's, and the id that the package must have. */
export interface PackageFolder {
  source: Source;
  name: string;
  /** Relative to the root, for example `bots/faq`. */
  directory: string;
}

/** Where packages stand, first what counts where nothing else decides. */
export const sources = ['plugins', 'bots'] as const;

/** How many packages one folder may hold; further ones are left out. */
export const maxPackages = 500;

/** The folders with a plugin.json in one source, in order of their names. */
export async function findPackageFolders(root: string, source: Source): Promise<PackageFolder[]> {
  const names = await readdir(join(root, source)).catch(() => []);
  const folders: PackageFolder[] = [];
  for (const name of names.toSorted((a, b) => (a < b ? -1 : 1))) {
    if (await isPackage(join(root, source, name))) folders.push({ source, name, directory: `${source}/${name}` });
  }
  return folders;
}

/** Of a package's folder: its name, and the other folders of the same installation whose name is this id. */
export async function findNamesakes(path: string, id: string): Promise<string[]> {
  const full = resolve(path);
  const [source, root] = [basename(dirname(full)), dirname(dirname(full))];
  if (!sources.some((known) => known === source)) return [];
  const others = sources.map((other) => `${other}/${id}`).filter((other) => join(root, other) !== full);
  const found = await Promise.all(others.map((other) => isPackage(join(root, other))));
  return others.filter((_, index) => found[index]);
}

async function isPackage(path: string): Promise<boolean> {
  // Of whatever kind it is: one that cannot be read is a package that is broken.
  return lstat(join(path, 'plugin.json')).then(
    () => true,
    () => false,
  );
}
