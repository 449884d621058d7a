import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, readlinkSync, realpathSync } from 'node:fs';
import { extname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** Why a file of a package is not read, in a sentence that never repeats what the file holds. */
export class FileProblem extends Error {
  override name = 'FileProblem';
}

/** What a package may hold. Bytes count the files that are read: plugin.json, the main file and what it imports. */
export const packageBounds = {
  manifestBytes: 64 * 1024,
  fileBytes: 1024 * 1024,
  totalBytes: 2 * 1024 * 1024,
  files: 200,
  /** Of a path in a sentence. */
  pathChars: 200,
} as const;

/** The kinds of files that a package is made of. */
const extensions = ['.ts', '.js', '.json'] as const;

// Without NONBLOCK, opening a FIFO waits for somebody who writes to it.
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** What must be readable besides the package: where Linux tells the path of an open file. */
export const descriptors = '/proc/self/fd';
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function quoted(path: string): string {
  return `"${path.slice(0, packageBounds.pathChars)}"`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

/** Runs a call of the file system; what it throws becomes a sentence about the path. */
function attempt<Result>(path: string, call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    const code = codeOf(error);
    // A path with a NUL character is no path of any file.
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR' || code === 'ERR_INVALID_ARG_VALUE';
    throw new FileProblem(isMissing ? `There is no file ${quoted(path)}` : `${quoted(path)} cannot be read: ${code}`, {
      cause: error,
    });
  }
}

/** Where the file that is open stands, as the kernel knows it; null on systems that do not tell. */
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

/** The files of one package: the only way to what a package's folder holds, and no way to anything else. */
export class PackageFiles {
  readonly #directory: string;
  #files = 0;
  #bytes = 0;

  /** Of the folder at this real path. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * The path of a file relative to the folder, links followed; `from` is the folder, relative to the package's, that the
   * path is relative to. Throws a FileProblem when the file is missing, outside, or of another kind.
   */
  locate(path: string, from = '.'): string {
    const wanted = resolve(this.#directory, from, path);
    if (!isInside(this.#directory, wanted)) throw new FileProblem(`${quoted(path)} is outside the package's folder`);
    this.#checkExtension(path, wanted);
    const real = attempt(path, () => realpathSync(wanted));
    if (!isInside(this.#directory, real)) {
      throw new FileProblem(`${quoted(path)} is a link to a file outside the package's folder`);
    }
    this.#checkExtension(path, real);
    if (!attempt(path, () => lstatSync(real)).isFile()) throw new FileProblem(`${quoted(path)} is not a regular file`);
    return relative(this.#directory, real);
  }

  /** The text of a file at a path relative to the folder. Throws a FileProblem. */
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
    throw new FileProblem(`${quoted(path)} must name a .ts, .js or .json file`);
  }

  // Between the look at the path and its opening, a folder on the way may have been exchanged for a link, and back again
  // after it: what counts is where the file that is open stands.
  #checkOpened(path: string, real: string, descriptor: number): void {
    if (!fstatSync(descriptor).isFile()) throw new FileProblem(`${quoted(path)} is not a regular file`);
    const opened = attempt(path, () => pathOf(descriptor) ?? realpathSync(real));
    if (!isInside(this.#directory, opened)) throw new FileProblem(`${quoted(path)} was exchanged while it was read`);
  }

  #textOf(path: string, bytes: Buffer, maxBytes: number): string {
    this.#files += 1;
    this.#bytes += bytes.length;
    if (bytes.length > maxBytes) throw new FileProblem(`${quoted(path)} is larger than ${maxBytes} bytes`);
    if (this.#files > packageBounds.files) {
      throw new FileProblem(`The package has more than ${packageBounds.files} files`);
    }
    if (this.#bytes > packageBounds.totalBytes) {
      throw new FileProblem(`The files of the package have more than ${packageBounds.totalBytes} bytes together`);
    }
    try {
      return strictUtf8.decode(bytes);
    } catch {
      throw new FileProblem(`${quoted(path)} is not UTF-8 text`);
    }
  }
}
