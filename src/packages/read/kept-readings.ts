import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, relative } from 'node:path';
import { systemRandom } from '../../lib/ports.ts';
import { dependencyExtensions, extensions, isOfDependency, packageBounds, PackageFiles } from '../files.ts';
import { readerFiles, readInProcess, type PackageReading, type ReadingBounds } from './read-in-process.ts';
import { parseReaderMessage } from './reader-message.ts';

/** A reading, and whether its code is known to load. */
export type KeptReading = PackageReading & { loads?: boolean };

interface Kept {
  /** The hash of the sources and of the code that read them. */
  hash: string;
  reading: PackageReading;
  loads: boolean;
}

/** Entries of a package's folder, files and folders, beyond which its reading is not kept. */
const maxEntries = 1000;

/**
 * Reads a package in a folder; a reading of the same sources that was kept in one of `folders` is taken from there, a new one is
 * kept in the first of them that can be written. Throws a PluginError when the package cannot be read.
 */
export async function readAndKeep(
  path: string,
  folders: readonly string[],
  bounds?: ReadingBounds,
  read = readInProcess,
): Promise<KeptReading> {
  const hash = await hashSources(path);
  if (hash === null) return read(path, bounds);
  const kept = await findKept(path, hash, folders);
  if (kept) return { ...kept.reading, loads: kept.loads };
  const reading = await read(path, bounds);
  // The sources may have changed meanwhile.
  if (reading.code !== null && (await hashSources(path)) === hash)
    await keep(path, { hash, reading, loads: false }, folders);
  return reading;
}

/** Notes with the kept reading of a package that its code loads. */
export async function noteLoading(path: string, folders: readonly string[]): Promise<void> {
  const hash = await hashSources(path);
  const kept = hash === null ? null : await findKept(path, hash, folders);
  if (kept && !kept.loads) await keep(path, { ...kept, loads: true }, folders);
}

async function findKept(path: string, hash: string, folders: readonly string[]): Promise<Kept | null> {
  for (const folder of folders) {
    const kept = await readKept(join(folder, fileName(path)));
    if (kept?.hash === hash) return kept;
  }
  return null;
}

async function readKept(file: string): Promise<Kept | null> {
  try {
    const { hash, reading, loads } = JSON.parse(await readFile(file, 'utf8')) as Kept;
    const message = parseReaderMessage(JSON.stringify({ type: 'read', ...reading }));
    return message?.type === 'read' ? { hash, reading, loads } : null;
  } catch {
    return null;
  }
}

async function keep(path: string, kept: Kept, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const file = join(folder, fileName(path));
    const draft = `${file}.${systemRandom.uuid()}`;
    try {
      await mkdir(folder, { recursive: true });
      await writeFile(draft, JSON.stringify(kept));
      await rename(draft, file);
      return;
    } catch {
      // Read-only: the next one is tried; without any, each start reads the package.
    }
  }
}

function fileName(path: string): string {
  return `${basename(dirname(path))}-${basename(path)}.json`;
}

/** The hash of all files that the code of a package could be made of; null for a folder with links, or beyond the bounds. */
async function hashSources(path: string): Promise<string | null> {
  try {
    const directory = await realpath(path);
    const hash = createHash('sha256').update(await (readerHash ??= hashReader()));
    const files = new PackageFiles(directory);
    for (const file of await findSources(directory)) {
      const text = files.read(file, packageBounds.fileBytes);
      hash.update(`${file} ${text.length}\n`).update(text);
    }
    return hash.digest('hex');
  } catch {
    return null;
  }
}

async function findSources(directory: string): Promise<string[]> {
  const found: string[] = [];
  const waiting = [directory];
  for (let seen = 0; waiting.length > 0;) {
    const folder = waiting.pop() ?? '';
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if ((seen += 1) > maxEntries || entry.isSymbolicLink()) throw new Error('Too much, or a link');
      const path = join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (isSource(relative(directory, path))) found.push(relative(directory, path));
    }
  }
  return found.toSorted();
}

function isSource(path: string): boolean {
  return (isOfDependency(path) ? dependencyExtensions : extensions).includes(extname(path));
}

let readerHash: Promise<string> | undefined;

async function hashReader(): Promise<string> {
  const texts = await Promise.all(readerFiles().map((file) => readFile(file)));
  const hash = createHash('sha256');
  for (const text of texts) hash.update(`${text.length}\n`).update(text);
  return hash.digest('hex');
}
