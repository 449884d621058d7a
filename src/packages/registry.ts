import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { findPackageFolders, maxPackages, sources } from './folders.ts';
import type { PackageFolder, Source } from './folders.ts';
import { readingBounds } from './read-in-process.ts';
import type { ReadingBounds } from './read-in-process.ts';
import { PluginError } from './plugin-error.ts';
import { readPackage, rivalryOf } from './read.ts';
import type { ReadPackage } from './read.ts';

/** A valid package of the installation. */
export interface PluginPackage extends ReadPackage {
  id: string;
  source: Source;
  /** Relative to the root, for example `bots/faq`. */
  directory: string;
}

/** A package that cannot be used, with all its problems. */
interface BrokenPackage {
  directory: string;
  problems: readonly string[];
}

/** A folder of the installation, which claims its name as the id of its package. */
interface IdClaim {
  id: string;
  source: Source;
  /** True when its package is valid. */
  isRead: boolean;
  /** True when no other folder claims the same id. */
  isAlone: boolean;
}

/** The packages of an installation at the time they were read. */
export interface Registry {
  get(id: string): PluginPackage | undefined;
  /** All valid packages, ordered by id. */
  list(): PluginPackage[];
  readonly broken: readonly BrokenPackage[];
  readonly claims: readonly IdClaim[];
  /** Decides which folder owns an id that two folders claim. By default the folder in `plugins` does. */
  assignIds(owners: ReadonlyMap<string, Source>): void;
}

type FolderReading = PackageFolder & (ReadPackage | { problems: readonly string[] });

const readersAtOnce = Math.min(4, availableParallelism());

/**
 * Reads all packages, `plugins/<id>` and `bots/<id>` below `root`, each in a process of its own. Lists invalid ones
 * under `broken` instead of failing.
 */
export async function readRegistry(root: string, bounds: ReadingBounds = readingBounds): Promise<Registry> {
  const found = await Promise.all(sources.map((source) => findPackageFolders(root, source)));
  const folders = found.flatMap((all) => all.slice(0, maxPackages));
  const problems = [`There are more than ${maxPackages} packages in this folder; this one was left out`];
  const leftOut = found.flatMap((all) => all.slice(maxPackages)).map(({ directory }) => ({ directory, problems }));
  return new InstalledPackages(await readAll(root, folders, bounds), leftOut);
}

class InstalledPackages implements Registry {
  readonly claims: readonly IdClaim[];
  readonly #claimants: ReadonlyMap<string, readonly FolderReading[]>;
  readonly #leftOut: readonly BrokenPackage[];
  #packages = new Map<string, PluginPackage>();
  #broken: BrokenPackage[] = [];

  constructor(readings: readonly FolderReading[], leftOut: readonly BrokenPackage[]) {
    this.#claimants = Map.groupBy(readings, ({ name }) => name);
    this.#leftOut = leftOut;
    this.claims = readings.map((reading) => ({
      id: reading.name,
      source: reading.source,
      isRead: 'manifest' in reading,
      isAlone: this.#claimants.get(reading.name)?.length === 1,
    }));
    this.assignIds(new Map());
  }

  get broken(): readonly BrokenPackage[] {
    return this.#broken;
  }

  get(id: string): PluginPackage | undefined {
    return this.#packages.get(id);
  }

  list(): PluginPackage[] {
    return [...this.#packages.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  assignIds(owners: ReadonlyMap<string, Source>): void {
    this.#packages = new Map();
    this.#broken = [...this.#leftOut];
    for (const [id, claimants] of this.#claimants) {
      const owner = claimants.find(({ source }) => source === owners.get(id)) ?? claimants[0];
      for (const reading of claimants) this.#place(id, reading, owner ?? reading);
    }
    this.#broken.sort((a, b) => (a.directory < b.directory ? -1 : 1));
  }

  #place(id: string, reading: FolderReading, owner: FolderReading): void {
    const { source, directory } = reading;
    const problems = 'problems' in reading ? [...reading.problems] : [];
    if (reading !== owner) problems.push(rivalryOf(id, owner.directory, directory));
    if (problems.length > 0) this.#broken.push({ directory, problems });
    else if ('manifest' in reading) {
      this.#packages.set(id, { id, source, directory, manifest: reading.manifest, bundle: reading.bundle });
    }
  }
}

/** Reads all folders, a few at a time; the results are in the order of `folders`. */
async function readAll(
  root: string,
  folders: readonly PackageFolder[],
  bounds: ReadingBounds,
): Promise<FolderReading[]> {
  const readings: FolderReading[] = [];
  const waiting = folders.entries();
  const readSome = async (): Promise<void> => {
    for (const [index, folder] of waiting) readings[index] = await read(root, folder, bounds);
  };
  await Promise.all(Array.from({ length: readersAtOnce }, readSome));
  return readings;
}

async function read(root: string, folder: PackageFolder, bounds: ReadingBounds): Promise<FolderReading> {
  try {
    return { ...folder, ...(await readPackage(join(root, folder.directory), bounds)) };
  } catch (error) {
    return { ...folder, problems: error instanceof PluginError ? error.problems : [String(error)] };
  }
}
