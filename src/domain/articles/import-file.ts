import { extname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { blockBytes, readEntries, TarProblem } from '../../archives/tar.ts';
import { readZip, ZipProblem } from '../../archives/zip.ts';
import { invalid } from '../../errors.ts';
import { findUnsafeValue } from '../../lib/text/unsafe-value.ts';
import { findProblems, type Shape } from '../../schemas.ts';
import { articleOf } from './markdown-article.ts';

/** The limits of a file of articles. */
export interface ImportBounds {
  /** Bytes of all files of an archive together. */
  unpackedBytes: number;
  /** Lines, or entries of an archive. */
  entries: number;
}

/** A line of the file, or a file of the archive by its number, with its article or its error. */
export type ImportLine = { line: number } & ({ article: ImportedArticle } | { error: string });
export type ImportedArticle = Shape<'requests/article.imported'>;

interface TextFile {
  line: number;
  path: string;
  /** The text, or a phrase that says why there is none. */
  read: () => Promise<string | { problem: string }>;
}

const unzip = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip);
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });
const markdown = new Set(['.md', '.markdown']);
const linesPerTurn = 100;
const quotedChars = 100;
const none = 'The file must be JSON lines (.jsonl, .ndjson), or Markdown in an archive (.zip, .tgz, .tar.gz)';

/**
 * Reads a file of articles by the kind that its name says; nothing is written to the disk. A line or file that cannot be
 * an article has an error, and the others are read. Errors: 422 for a file of another kind, or one that cannot be read
 * as what it is named, or that exceeds the limits.
 */
export async function readImportFile(name: string, bytes: Buffer, bounds: ImportBounds): Promise<ImportLine[]> {
  if (/\.(?:jsonl|ndjson)$/i.test(name)) return readLines(bytes, bounds);
  if (/\.zip$/i.test(name)) return readFiles(filesOfZip(bytes, bounds));
  if (/\.(?:tgz|tar\.gz)$/i.test(name)) return readFiles(await filesOfTar(bytes, bounds));
  throw refuse(none);
}

function refuse(problem: string): Error {
  return invalid('/file', 'articles', problem);
}

async function readLines(bytes: Buffer, { entries }: ImportBounds): Promise<ImportLine[]> {
  const lines: ImportLine[] = [];
  let line = 0;
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf('\n', from);
    const text = bytes.subarray(from, end === -1 ? bytes.length : end);
    line += 1;
    from += text.length + 1;
    if (line % linesPerTurn === 0) await nextTurn();
    const read = readLine(text);
    if (read) lines.push({ line, ...read });
    if (lines.length > entries) throw refuse(`The file has more than ${entries} articles: import it in several parts`);
  }
  return lines;
}

function readLine(bytes: Buffer): { article: ImportedArticle } | { error: string } | null {
  try {
    const text = strictUtf8.decode(bytes);
    return text.trim() === '' ? null : checked(JSON.parse(text), 'The line');
  } catch (error) {
    return { error: error instanceof SyntaxError ? 'The line is not JSON' : 'The line is not valid UTF-8' };
  }
}

function checked(value: unknown, whole: string): { article: ImportedArticle } | { error: string } {
  const [problem = findUnsafeValue(value)] = findProblems('requests/article.imported', value, whole);
  return problem ? { error: problem.message } : { article: value as ImportedArticle };
}

async function readFiles(files: readonly TextFile[]): Promise<ImportLine[]> {
  const lines: ImportLine[] = [];
  for (const { line, path, read } of files) {
    const text = await read();
    lines.push({ line, ...(typeof text === 'string' ? readFile(path, text) : sayOf(path, text.problem)) });
    if (lines.length % linesPerTurn === 0) await nextTurn();
  }
  return lines;
}

function readFile(path: string, text: string): { article: ImportedArticle } | { error: string } {
  const read = articleOf(path, text);
  if ('problem' in read) return sayOf(path, read.problem);
  const found = checked(read.article, 'The file');
  return 'error' in found ? sayOf(path, found.error) : found;
}

function sayOf(path: string, problem: string): { error: string } {
  return { error: `${path.slice(0, quotedChars)}: ${problem}` };
}

function decoded(bytes: Buffer): string | { problem: string } {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return { problem: 'is not valid UTF-8' };
  }
}

/** The plain path of a Markdown file; null for every other file. */
function markdownPath(name: string): string | null {
  const path = name.replace(/^(?:\.\/)+/, '');
  const isHidden =
    path.split('/').some((part) => part.startsWith('.') && part !== '..') || path.startsWith('__MACOSX/');
  return isHidden || !markdown.has(extname(path).toLowerCase()) ? null : path;
}

function filesOfZip(bytes: Buffer, { entries, unpackedBytes }: ImportBounds): TextFile[] {
  let left = unpackedBytes;
  try {
    return readZip(bytes, entries).flatMap(({ name, kind, size, read }, index) => {
      const path = markdownPath(name);
      if (path === null) return [];
      const open = async () => {
        if (kind !== 'file') return { problem: `is a ${kind}` };
        const most = left;
        // Unpacking takes its time also where the file turns out to be damaged.
        if (size <= most) left -= size;
        return decoded(await read(most));
      };
      const guarded = () => open().catch((error: unknown) => problemOf(error));
      return [{ line: index + 1, path, read: guarded }];
    });
  } catch (error) {
    throw error instanceof ZipProblem ? refuse(error.message) : error;
  }
}

function problemOf(error: unknown): { problem: string } {
  if (error instanceof ZipProblem) return { problem: error.message };
  throw error;
}

async function filesOfTar(bytes: Buffer, { entries, unpackedBytes }: ImportBounds): Promise<TextFile[]> {
  const tar = await unzip(bytes, { maxOutputLength: unpackedBytes + 4 * blockBytes * entries }).catch(
    (error: unknown) => {
      const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
      throw refuse(
        isTooLarge
          ? `The files of the archive have more than ${unpackedBytes} bytes together`
          : 'The archive is not gzipped, or damaged',
      );
    },
  );
  try {
    return Array.from(readEntries(tar, entries, { takesLongNames: true })).flatMap(({ name, kind, content }, index) => {
      const path = markdownPath(name);
      if (path === null || kind === 'folder') return [];
      const text = kind === 'file' ? decoded(content) : { problem: `is a ${kind}` };
      return [{ line: index + 1, path, read: () => Promise.resolve(text) }];
    });
  } catch (error) {
    throw error instanceof TarProblem ? refuse(error.message) : error;
  }
}
