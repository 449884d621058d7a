import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, readlinkSync, realpathSync } from 'node:fs';
import { extname, isAbsolute, join, relative, resolve, sep } from 'node:path';

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

/** The kinds of files that a package is made of. */
export const extensions = ['.ts', '.js', '.json'] as const;

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

/** Where the bundler gets the files of a package from. */
export interface PackageSource {
  /** Resolves a path, relative to `from`, itself relative to the package's folder. Throws a FileProblem. */
  locate(path: string, from?: string): string;
  /** The text of a file, by its path relative to the package's folder. Throws a FileProblem. */
  read(path: string, maxBytes?: number): string;
}

/** The files of one package in a folder; refuses every path outside its folder, links included. */
export class PackageFiles implements PackageSource {
  readonly #directory: string;
  #files = 0;
  #bytes = 0;

  /** `directory` is the real path of the package's folder. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Resolves a path, following links, and returns it relative to the package's folder. A relative path starts at
   * `from`, itself relative to the package's folder. Throws a FileProblem when the file is missing, outside or of
   * another kind.
   */
  locate(path: string, from = '.'): string {
    const wanted = resolve(this.#directory, from, path);
    if (!isInside(this.#directory, wanted))
      throw new FileProblem(`${quotedPath(path)} is outside the package's folder`);
    this.#checkExtension(path, wanted);
    const real = attempt(path, () => realpathSync(wanted));
    if (!isInside(this.#directory, real)) {
      throw new FileProblem(`${quotedPath(path)} is a link to a file outside the package's folder`);
    }
    this.#checkExtension(path, real);
    if (!attempt(path, () => lstatSync(real)).isFile())
      throw new FileProblem(`${quotedPath(path)} is not a regular file`);
    return relative(this.#directory, real);
  }

  /** The text of a file, by its path relative to the package's folder. Throws a FileProblem. */
  read(path: string, maxBytes: number = packageBounds.fileBytes): string {
    const real = join(this.#directory, this.locate(path));
    const descriptor = attempt(path, () => openSync(real, openFlags));
    try {
      this.#checkOpened(path, real, descriptor);
      return this.#textOf(path, readAtMost(descriptor, maxBytes + 1), maxBytes);
    } finally {
      closeSync(descriptor);
    }
  }

  #checkExtension(path: string, file: string): void {
    if (extensions.some((extension) => extension === extname(file))) return;
    throw new FileProblem(`${quotedPath(path)} must name a .ts, .js or .json file`);
  }

  // A folder on the path may have been replaced by a link after `locate` checked the path and before the file was
  // opened. Therefore this checks the path of the open file, as the kernel knows it.
  #checkOpened(path: string, real: string, descriptor: number): void {
    if (!fstatSync(descriptor).isFile()) throw new FileProblem(`${quotedPath(path)} is not a regular file`);
    const opened = attempt(path, () => pathOf(descriptor) ?? realpathSync(real));
    if (!isInside(this.#directory, opened))
      throw new FileProblem(`${quotedPath(path)} was exchanged while it was read`);
  }

  #textOf(path: string, bytes: Buffer, maxBytes: number): string {
    this.#files += 1;
    this.#bytes += bytes.length;
    if (this.#files > packageBounds.files) {
      throw new FileProblem(`The package has more than ${packageBounds.files} files`);
    }
    if (this.#bytes > packageBounds.totalBytes) {
      throw new FileProblem(`The files of the package have more than ${packageBounds.totalBytes} bytes together`);
    }
    return decodeFile(path, bytes, maxBytes);
  }
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
