import { lstatSync } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { OperatorError } from '../lib/operator-error.ts';

const ownerOnly = 0o600;

interface NewFile {
  path: string;
  /** The path under which it is found now. */
  place: string;
  handle: FileHandle;
}

/** Files that their owner alone reads: written beside their places, and moved there once all are complete. */
export class NewFiles {
  #files: NewFile[] = [];

  /** Throws OperatorError where a file is already, or cannot be made. */
  async open(path: string): Promise<FileHandle> {
    if (lstatSync(path, { throwIfNoEntry: false }))
      throw new OperatorError(`${path} exists: name a file that does not, or delete it.`);
    const place = `${path}.partial`;
    const handle = await open(place, 'wx', ownerOnly).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw new OperatorError(`${path} cannot be written: ${error.message}`);
      throw new OperatorError(
        `${place} exists: a backup into this file is running, or was interrupted. Delete it if none is running.`,
      );
    });
    this.#files.push({ path, place, handle });
    return handle;
  }

  /** Moves all to their places. */
  async finish(): Promise<void> {
    for (const { handle } of this.#files) {
      await handle.sync();
      await handle.close();
    }
    for (const file of this.#files) {
      await rename(file.place, file.path);
      file.place = file.path;
    }
  }

  /** Removes one that is not needed, or all. */
  async discard(path?: string): Promise<void> {
    const discarded = this.#files.filter((file) => path === undefined || file.path === path);
    this.#files = this.#files.filter((file) => !discarded.includes(file));
    for (const { handle, place } of discarded) {
      await handle.close().catch(() => undefined);
      await rm(place, { force: true });
    }
  }
}
