import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { OperatorError } from '../lib/operator-error.ts';
import { copyChunkBytes } from '../postgres/copy.ts';
import {
  checksum,
  formatLine,
  frameHead,
  frameHeadBytes,
  frameTypes,
  maxFrameBytes,
  newestFormat,
  type BackupHeader,
  type Frame,
  type FrameType,
} from './format.ts';

const decompress = promisify(zstdDecompress);
const formatShape = /^switchboard backup (\d{1,9})\n/;
const longestLine = 32;
const readBytes = 1_048_576;
const endBytes = frameHeadBytes + checksum.bytes;

/** Called with the part that is done, from 0 to 1. */
export type Progress = (part: number) => void;

/** Reads a backup that it has checked as a whole. */
export class BackupReader {
  readonly header: BackupHeader;
  /** Bytes of the file. */
  readonly size: number;
  readonly #file: FileHandle;
  #at: number;

  private constructor(file: FileHandle, size: number, { header, at }: { header: BackupHeader; at: number }) {
    this.#file = file;
    this.size = size;
    this.header = header;
    this.#at = at;
  }

  /** Throws OperatorError for a file that is no backup, is of a newer format, is incomplete, or was altered. */
  static async open(path: string, progress: Progress): Promise<BackupReader> {
    const file = await open(path, 'r').catch((error: Error) => {
      throw new OperatorError(`${path} cannot be read: ${error.message}`);
    });
    try {
      const { size } = await file.stat();
      const begin = await checkFormat(file, path);
      await checkSum(file, { path, size, progress });
      const first = await readFrame(file, begin);
      const header = JSON.parse(first.payload.toString()) as BackupHeader;
      return new BackupReader(file, size, { header, at: begin + frameHeadBytes + first.payload.length });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** The part that was read, from 0 to 1. */
  get part(): number {
    return this.#at / this.size;
  }

  /** The next frame. */
  async next(): Promise<Frame> {
    const frame = await readFrame(this.#file, this.#at);
    this.#at += frameHeadBytes + frame.payload.length;
    return frame;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Returns the rows of a frame. */
export function rowsIn({ payload }: Frame): Promise<Buffer> {
  return decompress(payload, { maxOutputLength: copyChunkBytes });
}

async function checkFormat(file: FileHandle, path: string): Promise<number> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(longestLine), 0, longestLine, 0);
  const format = Number(formatShape.exec(buffer.toString('latin1', 0, bytesRead))?.[1] ?? 0);
  if (format === 0) throw new OperatorError(`${path} is no backup that \`switchboard backup\` made.`);
  if (format > newestFormat)
    throw new OperatorError(`${path} was made by a newer release of Switchboard: restore it with that release.`);
  return formatLine(format).length;
}

async function checkSum(
  file: FileHandle,
  { path, size, progress }: { path: string; size: number; progress: Progress },
): Promise<void> {
  const end = await readUpTo(file, Math.max(0, size - endBytes), endBytes);
  if (!end.subarray(0, frameHeadBytes).equals(frameHead(frameTypes.end, checksum.bytes)))
    throw new OperatorError(`${path} is incomplete: its end is missing. Copy it again, or use another backup.`);
  const hash = createHash(checksum.algorithm);
  for (let at = 0; at < size - endBytes; at += readBytes) {
    hash.update(await readUpTo(file, at, Math.min(readBytes, size - endBytes - at)));
    progress(at / size);
  }
  if (!hash.digest().equals(end.subarray(frameHeadBytes)))
    throw new OperatorError(
      `${path} is damaged: its checksum does not match its contents. Copy it again, or use another backup.`,
    );
}

async function readFrame(file: FileHandle, at: number): Promise<Frame> {
  const head = await readUpTo(file, at, frameHeadBytes);
  const length = head.length < frameHeadBytes ? Infinity : head.readUInt32BE(1);
  if (length > maxFrameBytes) throw new Error(`The backup has no frame at byte ${at}`);
  return { type: head.readUInt8(0) as FrameType, payload: await readUpTo(file, at + frameHeadBytes, length) };
}

async function readUpTo(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}
