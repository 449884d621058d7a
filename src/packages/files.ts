import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** The reason why a file of a package is refused, as a sentence that never quotes the file's contents. */
export class FileProblem extends Error {
  override name = 'FileProblem';
}

/** The limits of a package. Only files that are read count: plugin.json, the main file and its imports. */
export const packageBounds = {
  manifestBytes: 64 * 1024,
  fileBytes: 1024 * 1024,
  totalBytes: 2 * 1024 * 1024,
  files: 200,
  /** The part of a path that a message quotes. */
  pathChars: 200,
} as const;

/** The beginning of the sentence about a package that is too large as a whole. */
export const tooMuch = 'The package has more than';

/** The kinds of files that a package is made of. */
export const extensions: readonly string[] = ['.ts', '.js', '.json'];
/** The kinds of files that bots use of npm packages. */
export const dependencyExtensions: readonly string[] = ['.js', '.mjs', '.cjs', '.json'];

// Without O_NONBLOCK, opening a FIFO would block until a writer opens it.
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** The folder in which Linux shows the paths of open files; the reading process needs access to it. */
export const descriptors = '/proc/self/fd';
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** A path as messages quote it. */
export function quotedPath(path: string): string {
  return `"${path.slice(0, packageBounds.pathChars)}"`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

/** Calls a function of the file system; turns its error into a FileProblem about the path. */
function attempt<Result>(path: string, call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    const code = codeOf(error);
    // Node throws ERR_INVALID_ARG_VALUE for a path with a NUL character.
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR' || code === 'ERR_INVALID_ARG_VALUE';
    throw new FileProblem(
      isMissing ? `There is no file ${quotedPath(path)}` : `${quotedPath(path)} cannot be read: ${code}`,
      {
        cause: error,
      },
    );
  }
}

/** The path of an open file as the kernel knows it; null on systems other than Linux. */
function pathOf(descriptor: number): string | null {
  return process.platform === 'linux' ? readlinkSync(`${descriptors}/${descriptor}`) : null;
}

function readAtMost(descriptor: number, maxBytes: number): Buffer {
  const bytes = Buffer.alloc(maxBytes);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, maxBytes - length, null);
    length += read;
    if (read === 0 || length === maxBytes) return bytes.subarray(0, length);
  }
}

/** Whether a path, relative to a plugin's folder, is in an npm package that the plugin uses. */
export function isOfDependency(path: string): boolean {
  return path.startsWith('node_modules/');
}

/** Throws a FileProblem for a file of a kind that packages do not have. */
export function checkExtension(path: string, file: string): void {
  const isForeign = isOfDependency(path);
  if ((isForeign ? dependencyExtensions : extensions).includes(extname(file))) return;
  const kinds = isForeign ? 'a .js, .mjs, .cjs or .json file' : 'a .ts, .js or .json file';
  throw new FileProblem(`${quotedPath(path)} must name ${kinds}`);
}

/** The folders `node_modules` above the real path of a package's folder, the nearest first. */
export function modulesAbove(directory: string): string[] {
  const found: string[] = [];
  for (let at = dirname(directory); ; at = dirname(at)) {
    const modules = join(at, 'node_modules');
    if (lstatSync(modules, { throwIfNoEntry: false })?.isDirectory()) found.push(modules);
    if (at === dirname(at)) return found;
  }
}

/** Kinds of entries in a folder. */
export type EntryKind = 'file' | 'folder' | 'link';

/**
 * Where the bundler gets the files of a package from. Paths below `node_modules/` are those of npm packages, wherever they are
 * installed.
 */
export interface PackageSource {
  /** Resolves a path, relative to `from`, itself relative to the package's folder. Throws a FileProblem. */
  locate(path: string, from?: string): string;
  /** The text of a file, by its path relative to the package's folder. Throws a FileProblem. */
  read(path: string, maxBytes?: number): string;
  /** Returns the kind of a path below `node_modules/`; null for nothing that could be used. */
  kindOf(path: string): EntryKind | null;
  /** How many folders above the package's own `node_modules` the npm package of this path is installed. */
  rankOf(path: string): number;
}

/** The files of one package in a folder; refuses every path outside its folder, links included. */
export class PackageFiles implements PackageSource {
  readonly #directory: string;
  /** The folders of npm packages, the package's own first. */
  readonly #modules: readonly string[];
  readonly #ranks = new Map<string, number>();
  readonly #filesOf = new Map<string, number>();
  #files = 0;
  #bytes = 0;
  #problem: FileProblem | null = null;

  /**
   * `directory` is the real path of the package's folder, `above` those of further folders `node_modules` in which its npm
   * packages may be, the nearest first.
   */
  constructor(directory: string, above: readonly string[] = []) {
    this.#directory = directory;
    this.#modules = [join(directory, 'node_modules'), ...above];
  }

  /**
   * Resolves a path, following links, and returns it relative to the package's folder. A relative path starts at
   * `from`, itself relative to the package's folder. Throws a FileProblem when the file is missing, outside or of
   * another kind. npm packages may have no links.
   */
  locate(path: string, from = '.'): string {
    const wanted = resolve(this.#directory, from, path);
    if (!isInside(this.#directory, wanted))
      throw new FileProblem(`${quotedPath(path)} is outside the package's folder`);
    const name = relative(this.#directory, wanted);
    checkExtension(isOfDependency(name) ? name : path, wanted);
    const file = isOfDependency(name) ? this.installedAt(name) : wanted;
    const real = attempt(path, () => realpathSync(file));
    if (isOfDependency(name) && real !== file) throw new FileProblem(`${quotedPath(path)} is a link, or below one`);
    if (!isOfDependency(name) && !isInside(this.#directory, real))
      throw new FileProblem(`${quotedPath(path)} is a link to a file outside the package's folder`);
    checkExtension(isOfDependency(name) ? name : path, real);
    if (!attempt(path, () => lstatSync(real)).isFile())
      throw new FileProblem(`${quotedPath(path)} is not a regular file`);
    return isOfDependency(name) ? name : relative(this.#directory, real);
  }

  /** The text of a file, by its path relative to the package's folder. Throws a FileProblem. */
  read(path: string, maxBytes: number = packageBounds.fileBytes): string {
    const name = this.locate(path);
    const real = isOfDependency(name) ? this.installedAt(name) : join(this.#directory, name);
    const descriptor = attempt(path, () => openSync(real, openFlags));
    try {
      this.#checkOpened(path, real, descriptor);
      this.#count(name);
      return this.#textOf(path, readAtMost(descriptor, maxBytes + 1), maxBytes);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Where a path below `node_modules/` is. */
  installedAt(path: string): string {
    return join(this.#modules[this.rankOf(path)] ?? '', path.slice('node_modules/'.length));
  }

  kindOf(path: string): EntryKind | null {
    const found = lstatSync(this.installedAt(path), { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) return 'link';
    if (found?.isDirectory()) return 'folder';
    return found?.isFile() ? 'file' : null;
  }

  rankOf(path: string): number {
    const name = packageNameIn(path);
    const known = this.#ranks.get(name);
    if (known !== undefined) return known;
    const found = this.#modules.findIndex((folder) => lstatSync(join(folder, name), { throwIfNoEntry: false }));
    const rank = Math.max(found, 0);
    this.#ranks.set(name, rank);
    return rank;
  }

  // A folder on the path may have been replaced by a link after `locate` checked the path and before the file was
  // opened. Therefore this checks the path of the open file, as the kernel knows it.
  #checkOpened(path: string, real: string, descriptor: number): void {
    if (!fstatSync(descriptor).isFile()) throw new FileProblem(`${quotedPath(path)} is not a regular file`);
    const opened = attempt(path, () => pathOf(descriptor) ?? realpathSync(real));
    const isExpected = isOfDependency(path) ? opened === real : isInside(this.#directory, opened);
    if (!isExpected) throw new FileProblem(`${quotedPath(path)} was exchanged while it was read`);
  }

  #count(path: string): void {
    this.#files += 1;
    const name = isOfDependency(path) ? packageNameIn(path) : '';
    this.#filesOf.set(name, (this.#filesOf.get(name) ?? 0) + 1);
  }

  #textOf(path: string, bytes: Buffer, maxBytes: number): string {
    this.#bytes += bytes.length;
    if (this.#files > packageBounds.files) throw this.#beyond(`${packageBounds.files} files`);
    if (this.#bytes > packageBounds.totalBytes)
      throw this.#beyond(`${packageBounds.totalBytes} bytes together in its files`);
    return decodeFile(path, bytes, maxBytes);
  }

  /** The same for each further file; names the npm package with the most, since it can often be imported in part. */
  #beyond(limit: string): FileProblem {
    const [[name, count] = ['', 0]] = [...this.#filesOf].sort(([, one], [, other]) => other - one);
    const part =
      name === '' ? '' : `, ${count} files are those of the npm package ${name}: import a part of it (${name}/…)`;
    this.#problem ??= new FileProblem(`${tooMuch} ${limit}${part}`);
    return this.#problem;
  }
}

/** The name of the outermost npm package of a path below `node_modules/`. */
function packageNameIn(path: string): string {
  return /^node_modules\/((?:@[^/]*\/)?[^/]*)/.exec(path)?.[1] ?? '';
}

/** The text of a file's bytes. Throws a FileProblem when there are more than `maxBytes`, or they are not UTF-8. */
export function decodeFile(path: string, bytes: Buffer, maxBytes: number = packageBounds.fileBytes): string {
  if (bytes.length > maxBytes) throw new FileProblem(`${quotedPath(path)} is larger than ${maxBytes} bytes`);
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new FileProblem(`${quotedPath(path)} is not UTF-8 text`);
  }
}
