import { gunzipSync } from 'node:zlib';
import { blockBytes, quoted, readEntries, TarProblem, type TarEntry } from '../../archives/tar.ts';

/** The limits of an archive. */
export interface ArchiveBounds {
  /** Bytes of all files together. */
  unpackedBytes: number;
  /** Entries of any kind. */
  entries: number;
}

/** The files of an archive by their path below its top folder, or every problem that prevents reading them. */
export type Unpacked = { files: ReadonlyMap<string, Buffer> } | { problems: string[] };

/** An entry's header and padding, and those of its extended header. */
const overheadBytes = 4 * blockBytes;
/** The zero blocks at the end, up to the usual record of 20 blocks. */
const endBytes = 20 * blockBytes;
const maxNameChars = 255;
const nativeKinds = /\.(?:node|so|dll|dylib|exe|wasm|a|o|blob|snapshot|cache)$/i;
const nativeBeginnings = ['7f454c46', '4d5a', 'feedface', 'feedfacf', 'cefaedfe', 'cffaedfe', 'cafebabe', '0061736d'];

/**
 * Reads a gzipped tar archive in memory: nothing is written anywhere. Accepts files and folders only, below one top
 * folder, each at most once, by plain relative paths.
 */
export function unpack(bytes: Buffer, bounds: ArchiveBounds): Unpacked {
  const entries: TarEntry[] = [];
  try {
    for (const entry of readEntries(inflate(bytes, bounds), bounds.entries)) entries.push(entry);
  } catch (error) {
    if (!(error instanceof TarProblem)) throw error;
    return { problems: [...entries.flatMap(findEntryProblems), error.message] };
  }
  const problems = [...entries.flatMap(findEntryProblems), ...findStructureProblems(entries, bounds)];
  if (problems.length > 0) return { problems };
  const files = entries.filter(({ kind }) => kind === 'file');
  return { files: new Map(files.map(({ name, content }) => [belowTop(name), content])) };
}

function inflate(bytes: Buffer, { unpackedBytes, entries }: ArchiveBounds): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: unpackedBytes + entries * overheadBytes + endBytes });
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw new TarProblem(
      isTooLarge ? tooLarge(unpackedBytes) : 'The archive is not gzipped, or damaged: make it with npm pack',
      { cause: error },
    );
  }
}

function tooLarge(unpackedBytes: number): string {
  return `The files of the archive have more than ${unpackedBytes} bytes together`;
}

function findStructureProblems(entries: readonly TarEntry[], { unpackedBytes }: ArchiveBounds): string[] {
  const problems: string[] = [];
  const names = entries.map(({ name }) => plain(name));
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  for (const name of new Set(twice)) problems.push(`${quoted(name)} is in the archive more than once`);
  const files = new Set(entries.filter(({ kind }) => kind === 'file').map(({ name }) => plain(name)));
  for (const name of new Set(names.flatMap(parentsOf)))
    if (files.has(name)) problems.push(`${quoted(name)} is a file and a folder`);
  const tops = new Set(names.map((name) => name.split('/')[0]));
  const isBelowOne = tops.size === 1 && entries.every(({ name, kind }) => name.includes('/') || kind === 'folder');
  if (!isBelowOne) problems.push('All files of the archive must be in one top folder, as npm pack does it');
  const total = entries.reduce((sum, { content }) => sum + content.length, 0);
  if (total > unpackedBytes) problems.push(tooLarge(unpackedBytes));
  return problems;
}

function findEntryProblems({ name, kind, content }: TarEntry): string[] {
  if (kind !== 'folder' && kind !== 'file')
    return [
      `${quoted(name)} is ${kind === 'unknown' ? 'of an unknown kind' : `a ${kind}`}: archives contain files and folders only`,
    ];
  if (!isPlainPath(name)) return [`${quoted(name)} is not a plain relative path`];
  const begins = content.toString('hex', 0, 4);
  if (nativeKinds.test(name) || nativeBeginnings.some((beginning) => begins.startsWith(beginning)))
    return [`${quoted(name)} is machine code or compiled: plugins consist of source files`];
  return [];
}

// Control characters, backslashes and drive letters mean something on some system.
function isPlainPath(name: string): boolean {
  // oxlint-disable-next-line no-control-regex
  if (name.length > maxNameChars || /[\\:\u0000-\u001f\u007f]/.test(name)) return false;
  return name
    .replace(/\/$/, '')
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');
}

// Some file systems do not tell these names apart.
function plain(name: string): string {
  return name.replace(/\/$/, '').normalize('NFC').toLowerCase();
}

function parentsOf(name: string): string[] {
  const parts = name.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function belowTop(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}
