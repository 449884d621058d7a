/** A file, folder or something else in an archive. */
export interface TarEntry {
  name: string;
  kind: 'file' | 'folder' | 'hard link' | 'symbolic link' | 'device' | 'FIFO' | 'unknown';
  content: Buffer;
}

/** A reason why the rest of an archive cannot be read, as a sentence. */
export class TarProblem extends Error {
  override name = 'TarProblem';
}

export const blockBytes = 512;

const quotedChars = 100;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });
const kinds: Readonly<Record<string, TarEntry['kind']>> = {
  '\0': 'file',
  0: 'file',
  1: 'hard link',
  2: 'symbolic link',
  3: 'device',
  4: 'device',
  5: 'folder',
  6: 'FIFO',
};
const [extended, global] = ['x', 'g'];
// Entry types of GNU's tar: the name, or the link target, of the next entry if longer than 100 bytes.
const [longName, longTarget] = ['L', 'K'];
/** Extended headers that would change what is read. */
const refusedKeys = /^(?:linkpath|size|GNU\.sparse\..*)$/;

/**
 * The entries of a tar archive in memory, with the names of extended headers; `takesLongNames`: those too that GNU's tar writes
 * in its own way, which are entries of an unknown kind otherwise. Throws a TarProblem where the archive cannot be read any further.
 */
export function* readEntries(tar: Buffer, maxEntries: number, { takesLongNames = false } = {}): Generator<TarEntry> {
  let count = 0;
  let path: string | null = null;
  for (let at = 0; ;) {
    const header = tar.subarray(at, at + blockBytes);
    if (header.length < blockBytes) throw new TarProblem('The archive is cut off: it has no end');
    if (isEmpty(header)) return checkEnd(tar.subarray(at));
    count += 1;
    if (count > maxEntries) throw new TarProblem(`The archive has more than ${maxEntries} entries`);
    const { name, type, size } = readHeader(header, path);
    const content = tar.subarray(at + blockBytes, at + blockBytes + size);
    if (content.length < size) throw new TarProblem(`The archive is cut off inside of ${quoted(name)}`);
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes;
    const ahead = readAhead({ type, content }, { path, takesLongNames });
    path = ahead?.path ?? null;
    if (!ahead) yield { name, kind: kinds[type] ?? 'unknown', content };
  }
}

/** Reads a header that names the next entry; null if it is an entry itself. */
function readAhead(
  { type, content }: { type: string; content: Buffer },
  { path, takesLongNames }: { path: string | null; takesLongNames: boolean },
): { path: string | null } | null {
  if (type === extended) return { path: readExtended(content, { mayName: true }) ?? path };
  if (type === global) return { path: readExtended(content, { mayName: false }) ?? path };
  if (!takesLongNames) return null;
  if (type === longName) return { path: readText(content) };
  return type === longTarget ? { path } : null;
}

/** A name from an archive as messages quote it. */
export function quoted(name: string): string {
  return `"${name.slice(0, quotedChars)}"`;
}

function isEmpty(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

function checkEnd(rest: Buffer): void {
  if (!isEmpty(rest)) throw new TarProblem('There is something behind the end of the archive');
}

/** `path` is the name that a header before this one has given; what stands here then is cut off somewhere. */
function readHeader(header: Buffer, path: string | null): { name: string; type: string; size: number } {
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte), 0);
  if (readOctal(header.subarray(148, 156)) !== sum) throw new TarProblem('The archive is damaged: a checksum is wrong');
  const size = readOctal(header.subarray(124, 136));
  const type = header.toString('latin1', 156, 157);
  return { name: path ?? readName(header), type, size: kinds[type] === 'folder' ? 0 : size };
}

function readName(header: Buffer): string {
  const isUstar = header.toString('latin1', 257, 262) === 'ustar';
  const prefix = isUstar && header[263] !== 0x20 ? readText(header.subarray(345, 500)) : '';
  const name = readText(header.subarray(0, 100));
  return prefix === '' ? name : `${prefix}/${name}`;
}

function readOctal(field: Buffer): number {
  const text = field
    .toString('latin1')
    .replace(/[\0 ]+$/, '')
    .trimStart();
  if (!/^[0-7]{1,11}$/.test(text)) throw new TarProblem('The archive is damaged: a number is not octal');
  return Number.parseInt(text, 8);
}

function readText(field: Buffer): string {
  const end = field.indexOf(0);
  return decode(end === -1 ? field : field.subarray(0, end));
}

function decode(bytes: Buffer): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new TarProblem('A name in the archive is not UTF-8');
  }
}

/** The path in an extended header, if it has one and may. */
function readExtended(content: Buffer, { mayName }: { mayName: boolean }): string | null {
  let path: string | null = null;
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(0x20, at);
    const digits = space === -1 ? '' : content.toString('latin1', at, space);
    const length = /^[1-9]\d{0,6}$/.test(digits) ? Number(digits) : 0;
    const isWhole = length > digits.length + 2 && at + length <= content.length && content[at + length - 1] === 0x0a;
    if (!isWhole) throw new TarProblem('An extended header of the archive is damaged');
    const [key = '', ...value] = decode(content.subarray(space + 1, at + length - 1)).split('=');
    if (refusedKeys.test(key) || (key === 'path' && !mayName))
      throw new TarProblem(`An extended header of the archive sets ${quoted(key)}, which is not accepted`);
    if (key === 'path') path = value.join('=');
    at += length;
  }
  return path;
}
