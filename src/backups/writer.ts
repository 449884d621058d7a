import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { OperatorError } from '../lib/operator-error.ts';
import { checksum, formatLine, frameHead, frameTypes, newestFormat, type FrameType } from './format.ts';

const compress = promisify(zstdCompress);
const ownerOnly = 0o600;

/** Writes a backup beside its place, and moves it there once it is complete. */
export class BackupWriter {
  bytes = 0;
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #hash = createHash(checksum.algorithm);

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** Throws OperatorError where a file is already, or cannot be made. */
  static async open(path: string): Promise<BackupWriter> {
    if (existsSync(path)) throw new OperatorError(`${path} exists: name a file that does not, or delete it.`);
    const file = await open(partial(path), 'wx', ownerOnly).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw new OperatorError(`${path} cannot be written: ${error.message}`);
      throw new OperatorError(
        `${partial(path)} exists: a backup into this file is running, or was interrupted. Delete it if none is running.`,
      );
    });
    const writer = new BackupWriter(path, file);
    await writer.#write(Buffer.from(formatLine(newestFormat)));
    return writer;
  }

  /** Writes a frame of JSON. */
  json(type: FrameType, value: unknown): Promise<void> {
    return this.#frame(type, Buffer.from(JSON.stringify(value)));
  }

  /** Writes a frame of rows. */
  async rows(chunk: Buffer): Promise<void> {
    await this.#frame(frameTypes.rows, await compress(chunk));
  }

  /** Completes the file; returns the SHA-256 of all its bytes, in hexadecimal. */
  async finish(): Promise<string> {
    await this.#frame(frameTypes.end, this.#hash.copy().digest());
    await this.#file.sync();
    await this.#file.close();
    await rename(partial(this.#path), this.#path);
    return this.#hash.digest('hex');
  }

  /** Removes a file that will not be completed. */
  async discard(): Promise<void> {
    await this.#file.close().catch(() => undefined);
    await rm(partial(this.#path), { force: true });
  }

  async #frame(type: FrameType, payload: Buffer): Promise<void> {
    await this.#write(frameHead(type, payload.length));
    await this.#write(payload);
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    this.bytes += bytes.length;
    await this.#file.writeFile(bytes);
  }
}

function partial(path: string): string {
  return `${path}.partial`;
}
