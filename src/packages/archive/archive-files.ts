import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { checkExtension, decodeFile, FileProblem, isOfDependency, quotedPath } from '../files.ts';
import type { EntryKind, PackageSource } from '../files.ts';

/** The file of an archive that holds the signature of all others. */
const signatureFile = 'plugin.sig';

/** The files of a package in an archive, by their path below its top folder. */
export class ArchiveFiles implements PackageSource {
  readonly #files: ReadonlyMap<string, Buffer>;
  readonly #folders: ReadonlySet<string>;

  constructor(files: ReadonlyMap<string, Buffer>) {
    this.#files = files;
    this.#folders = new Set([...files.keys()].flatMap(foldersOf));
  }

  /** Resolves a path, relative to `from`. Throws a FileProblem when the file is missing, outside or of another kind. */
  locate(path: string, from = '.'): string {
    const wanted = posix.join(from, path);
    if (path.startsWith('/') || wanted === '..' || wanted.startsWith('../'))
      throw new FileProblem(`${quotedPath(path)} is outside the package's folder`);
    checkExtension(isOfDependency(wanted) ? wanted : path, wanted);
    if (!this.#files.has(wanted)) throw new FileProblem(`There is no file ${quotedPath(path)}`);
    return wanted;
  }

  /** The text of a file. Throws a FileProblem. */
  read(path: string, maxBytes?: number): string {
    return decodeFile(path, this.#files.get(this.locate(path)) ?? Buffer.alloc(0), maxBytes);
  }

  kindOf(path: string): EntryKind | null {
    if (this.#files.has(path)) return 'file';
    return this.#folders.has(path) ? 'folder' : null;
  }

  rankOf(): number {
    return 0;
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

function foldersOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
