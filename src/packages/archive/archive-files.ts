import { createHash } from 'node:crypto';
import { extname, posix } from 'node:path';
import { decodeFile, extensions, FileProblem, quotedPath, type PackageSource } from '../files.ts';

/** The file of an archive that holds the signature of all others. */
const signatureFile = 'plugin.sig';

/** The files of a package in an archive, by their path below its top folder. */
export class ArchiveFiles implements PackageSource {
  readonly #files: ReadonlyMap<string, Buffer>;

  constructor(files: ReadonlyMap<string, Buffer>) {
    this.#files = files;
  }

  /** Resolves a path, relative to `from`. Throws a FileProblem when the file is missing, outside or of another kind. */
  locate(path: string, from = '.'): string {
    const wanted = posix.join(from, path);
    if (path.startsWith('/') || wanted === '..' || wanted.startsWith('../'))
      throw new FileProblem(`${quotedPath(path)} is outside the package's folder`);
    if (!extensions.some((extension) => extension === extname(wanted)))
      throw new FileProblem(`${quotedPath(path)} must name a .ts, .js or .json file`);
    if (!this.#files.has(wanted)) throw new FileProblem(`There is no file ${quotedPath(path)}`);
    return wanted;
  }

  /** The text of a file. Throws a FileProblem. */
  read(path: string, maxBytes?: number): string {
    return decodeFile(path, this.#files.get(this.locate(path)) ?? Buffer.alloc(0), maxBytes);
  }

  /** The SHA-256 of the names and contents of all files but the signature. */
  hash(): string {
    const names = [...this.#files.keys()].filter((name) => name !== signatureFile).sort();
    const hash = createHash('sha256');
    for (const name of names) {
      const content = createHash('sha256')
        .update(this.#files.get(name) ?? '')
        .digest('hex');
      hash.update(`${content}  ${JSON.stringify(name)}\n`);
    }
    return hash.digest('hex');
  }

  /** The text of the signature; null if there is none, or one that is too long to be one. */
  signature(maxChars: number): string | null {
    const text = this.#files.get(signatureFile)?.toString('latin1').trim() ?? null;
    return text !== null && text.length <= maxChars ? text : null;
  }
}
