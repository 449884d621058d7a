import { availableParallelism } from 'node:os';
import { findPackageFolders, maxPackages, pluginDirsOf } from './folders.ts';
import type { PackageFolder } from './folders.ts';
import { readInProcess, readingBounds } from './read/read-in-process.ts';
import type { PackageReader, ReadingBounds } from './read/read-in-process.ts';
import { PluginError } from './plugin-error.ts';
import { readPackageOnce, rivalryOf } from './read/read.ts';
import type { ReadPackage } from './read/read.ts';

/** A valid package in a folder. */
interface PluginPackage extends ReadPackage {
  id: string;
  /** The name of the folder of packages. */
  source: string;
  /** The package's folder as people read it, for example `bots/faq`. */
  directory: string;
}

/** A package that cannot be used, with all its problems. */
export interface BrokenPackage {
  directory: string;
  problems: readonly string[];
}

/** A folder and the package in it, or the reason why there is none. Its name is the id that it claims. */
export type FolderReading = PackageFolder & (ReadPackage | { problems: readonly string[] });

/** The packages in folders at the time they were read; of two that claim an id, the first has it. */
export interface Registry {
  get(id: string): PluginPackage | undefined;
  /** All valid packages, ordered by id. */
  list(): PluginPackage[];
  readonly broken: readonly BrokenPackage[];
  /** Readings by plugin id, in the order of the folders. */
  readonly claimants: ReadonlyMap<string, readonly FolderReading[]>;
  /** Packages that were not read, since there are too many. */
  readonly leftOut: readonly BrokenPackage[];
}

export interface RegistryOptions {
  /** The folders of packages, absolute or relative to the root. */
  dirs?: readonly string[] | undefined;
  bounds?: ReadingBounds;
  /** The folders in which readings are kept, the first that can be written; none by default. */
  keptIn?: readonly string[];
  /** Reads a package; by default in a process of its own. */
  read?: PackageReader['folder'];
}

const readersAtOnce = Math.min(4, availableParallelism());

/**
 * Reads all packages in the folders, `plugins/<id>` and `bots/<id>` below `root` by default, each in a process of its own.
 * Lists invalid ones under `broken` instead of failing.
 */
export async function readRegistry(
  root: string,
  { dirs, bounds = readingBounds, keptIn = [], read = readInProcess }: RegistryOptions = {},
): Promise<Registry> {
  const found = await Promise.all(pluginDirsOf(root, dirs).map(findPackageFolders));
  const folders = found.flatMap((all) => all.slice(0, maxPackages));
  const problems = [`There are more than ${maxPackages} packages in this folder; this one was left out`];
  const leftOut = found.flatMap((all) => all.slice(maxPackages)).map(({ directory }) => ({ directory, problems }));
  return new FolderPackages(await readAll(folders, { bounds, keptIn, read }), leftOut);
}

class FolderPackages implements Registry {
  readonly claimants: ReadonlyMap<string, readonly FolderReading[]>;
  readonly leftOut: readonly BrokenPackage[];
  readonly broken: readonly BrokenPackage[];
  readonly #packages = new Map<string, PluginPackage>();

  constructor(readings: readonly FolderReading[], leftOut: readonly BrokenPackage[]) {
    this.claimants = Map.groupBy(readings, ({ name }) => name);
    this.leftOut = leftOut;
    const broken = [...leftOut];
    for (const [id, [owner, ...others]] of this.claimants) {
      if (owner && 'problems' in owner) broken.push(owner);
      else if (owner) this.#packages.set(id, { ...owner, id });
      for (const other of others) broken.push(refuse(id, other, owner ?? other));
    }
    this.broken = broken
      .map(({ directory, problems }) => ({ directory, problems }))
      .sort((a, b) => (a.directory < b.directory ? -1 : 1));
  }

  get(id: string): PluginPackage | undefined {
    return this.#packages.get(id);
  }

  list(): PluginPackage[] {
    return [...this.#packages.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/** The package of a folder that may not have the id which another one owns. */
export function refuse(id: string, reading: FolderReading, owner: { directory: string }): BrokenPackage {
  const problems = 'problems' in reading ? reading.problems : [];
  return { directory: reading.directory, problems: [...problems, rivalryOf(id, owner.directory, reading.directory)] };
}

/** Reads all folders, a few at a time; the results are in the order of `folders`. */
async function readAll(
  folders: readonly PackageFolder[],
  how: Required<Omit<RegistryOptions, 'dirs'>>,
): Promise<FolderReading[]> {
  const readings: FolderReading[] = [];
  const waiting = folders.entries();
  const readSome = async (): Promise<void> => {
    for (const [index, folder] of waiting) readings[index] = await readFolder(folder, how);
  };
  await Promise.all(Array.from({ length: readersAtOnce }, readSome));
  return readings;
}

async function readFolder(
  folder: PackageFolder,
  { bounds, keptIn, read }: Required<Omit<RegistryOptions, 'dirs'>>,
): Promise<FolderReading> {
  try {
    return { ...folder, ...(await readPackageOnce(folder.path, keptIn, bounds, read)) };
  } catch (error) {
    return { ...folder, problems: error instanceof PluginError ? error.problems : [String(error)] };
  }
}
