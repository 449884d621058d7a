import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';

/** A file, folder or something else in a ZIP archive. */
export interface ZipEntry {
  name: string;
  kind: 'file' | 'folder' | 'symbolic link';
  /** Bytes of its content, as the archive says; unpacking it makes no more. */
  size: number;
  /** Its content, if that has no more than so many bytes. Throws a ZipProblem. */
  read: (maxBytes: number) => Promise<Buffer>;
}

/** A reason why an archive, or an entry of it, cannot be read, as a sentence. */
export class ZipProblem extends Error {
  override name = 'ZipProblem';
}

const inflate = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);
const [endSignature, entrySignature, fileSignature] = [0x06054b50, 0x02014b50, 0x04034b50];
const [endBytes, entryBytes, fileBytes] = [22, 46, 30];
const maxCommentBytes = 0xffff;
const [isEncrypted, unix, link] = [0x1, 3, 0xa000];
const [stored, deflated] = [0, 8];
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** The packed bytes that may still be read: files that lie over one another would be read again and again. */
interface Unread {
  bytes: number;
}

/**
 * The entries of a ZIP archive in memory, as its directory at the end lists them; nothing is decompressed before it is
 * read. Throws a ZipProblem where the archive cannot be read.
 */
export function readZip(zip: Buffer, maxEntries: number): ZipEntry[] {
  const end = findEnd(zip);
  const [count, size, offset] = [zip.readUInt16LE(end + 10), zip.readUInt32LE(end + 12), zip.readUInt32LE(end + 16)];
  if (zip.readUInt16LE(end + 4) !== 0) throw new ZipProblem('The archive is a part of several');
  if (count === 0xffff || offset === 0xffffffff)
    throw new ZipProblem('The archive is a ZIP64 archive, which is not accepted');
  if (count > maxEntries) throw new ZipProblem(`The archive has more than ${maxEntries} entries`);
  if (offset + size > end) throw new ZipProblem('The archive is damaged: its directory is not where it should be');
  return readDirectory(zip.subarray(0, end), offset, count);
}

function readDirectory(zip: Buffer, offset: number, count: number): ZipEntry[] {
  const entries: ZipEntry[] = [];
  const unread = { bytes: zip.length };
  for (let at = offset; entries.length < count;) {
    const isThere = at + entryBytes <= zip.length && zip.readUInt32LE(at) === entrySignature;
    const name = isThere ? at + entryBytes + zip.readUInt16LE(at + 28) : Infinity;
    const next = isThere ? name + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32) : Infinity;
    if (next > zip.length) throw new ZipProblem('The archive is damaged: its directory ends early');
    const place = at;
    const read = (maxBytes: number) => readContent(zip, place, { maxBytes, unread });
    entries.push({ ...describe(zip, at, zip.subarray(at + entryBytes, name)), read });
    at = next;
  }
  return entries;
}

function findEnd(zip: Buffer): number {
  for (let at = zip.length - endBytes; at >= Math.max(0, zip.length - endBytes - maxCommentBytes); at--)
    if (zip.readUInt32LE(at) === endSignature && at + endBytes + zip.readUInt16LE(at + 20) === zip.length) return at;
  throw new ZipProblem('The file is no ZIP archive, or cut off');
}

function describe(zip: Buffer, at: number, nameBytes: Buffer): Omit<ZipEntry, 'read'> {
  const name = decodeName(nameBytes);
  const mode = zip[at + 5] === unix ? zip.readUInt16LE(at + 40) : 0;
  const kind = (mode & 0xf000) === link ? 'symbolic link' : name.endsWith('/') ? 'folder' : 'file';
  return { name, kind, size: zip.readUInt32LE(at + 24) };
}

// Without a flag for it, names are UTF-8 all the same where macOS made the archive.
function decodeName(bytes: Buffer): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

async function readContent(
  zip: Buffer,
  at: number,
  { maxBytes, unread }: { maxBytes: number; unread: Unread },
): Promise<Buffer> {
  const [flags, method] = [zip.readUInt16LE(at + 8), zip.readUInt16LE(at + 10)];
  const [sum, packed, size, start] = [16, 20, 24, 42].map((field) => zip.readUInt32LE(at + field));
  if (flags & isEncrypted) throw new ZipProblem('is encrypted');
  if ((size ?? 0) > maxBytes) throw new ZipProblem(`has more than ${maxBytes} bytes`);
  const bytes = packedBytes(zip, start ?? 0, packed ?? 0);
  unread.bytes -= bytes.length;
  if (unread.bytes < 0) throw new ZipProblem('lies over other files of the archive');
  const content = method === stored ? bytes : await unpack(bytes, method, size ?? 0);
  if (content.length !== size || crc32(content) !== sum) throw new ZipProblem('is damaged: its checksum is wrong');
  return content;
}

function packedBytes(zip: Buffer, start: number, packed: number): Buffer {
  const isThere = start + fileBytes <= zip.length && zip.readUInt32LE(start) === fileSignature;
  if (!isThere) throw new ZipProblem('is not where the directory says');
  const from = start + fileBytes + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28);
  if (from + packed > zip.length) throw new ZipProblem('is cut off');
  return zip.subarray(from, from + packed);
}

async function unpack(bytes: Buffer, method: number, size: number): Promise<Buffer> {
  if (method !== deflated) throw new ZipProblem('is compressed in a way that is not accepted');
  try {
    return await inflate(bytes, { maxOutputLength: Math.max(1, size) });
  } catch {
    throw new ZipProblem('is damaged');
  }
}
