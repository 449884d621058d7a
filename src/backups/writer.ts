import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { checksum, formatLine, frameHead, frameTypes, newestFormat, type FrameType } from './format.ts';

const compress = promisify(zstdCompress);

/** Writes a backup into an empty file. */
export class BackupWriter {
  bytes = 0;
  readonly #file: FileHandle;
  readonly #hash = createHash(checksum.algorithm);

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Begins the file. */
  static async begin(file: FileHandle): Promise<BackupWriter> {
    const writer = new BackupWriter(file);
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

  /** Writes the end; returns the SHA-256 of all its bytes, in hexadecimal. */
  async finish(): Promise<string> {
    await this.#frame(frameTypes.end, this.#hash.copy().digest());
    return this.#hash.digest('hex');
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
