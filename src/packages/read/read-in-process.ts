import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { printable } from '../../lib/text/printable.ts';
import { childCode } from '../../sandbox/stripped-code.ts';
import { limitedCommand } from '../../sandbox/child-limits.ts';
import { packagePaths, residentMb } from '../../sandbox/child-process.ts';
import { bundlerFlags } from './bundler-flags.ts';
import { maxReaderLineBytes, parseReaderMessage } from './reader-message.ts';
import type { ReaderMessage } from './reader-message.ts';
import type { ArchiveBounds } from '../archive/unpack.ts';
import { descriptors, modulesAbove, quotedPath } from '../files.ts';
import { PluginError } from '../plugin-error.ts';
import { ComputingClock } from '../../sandbox/computing-clock.ts';
import { LineReader } from '../../sandbox/wire.ts';

/** The contents of a package; `manifest` and `code` are texts that have not been validated yet. */
export type PackageReading = Omit<Extract<ReaderMessage, { type: 'read' }>, 'type'>;

/** The hash and signature of an archive's files, known before any code is looked at. */
type ArchiveSeal = Omit<Extract<ReaderMessage, { type: 'unpacked' }>, 'type'>;

/** The limits for reading and bundling one package. */
export interface ReadingBounds {
  /** The processor time for reading and bundling, without the start of the process, in milliseconds. */
  readMs: number;
}

/** The limits for every package, unless a test sets others. */
export const readingBounds: ReadingBounds = { readMs: 10_000 };

// The processor time for the start of the process, before it reads the package.
const readyMs = 10_000;
// The time that may pass for each of both, however busy the machine is.
const patienceMs = 120_000;
// Memory limits: of WebAssembly, in pages of 64 KiB; of the JavaScript heap; of the process as a whole.
const bundlerPages = 4096;
const heapMb = 64;
const maxRssMb = 512;
// Ends the process even if the service, which enforces the other limits, was killed.
const cpuSeconds = 30;
const watchEveryMs = 50;

const folder = realpathSync(import.meta.dirname);
// In the package that `npm pack` makes, these files are JavaScript.
const extension = extname(import.meta.filename);
// The program first.
const codeFiles = [
  'reader-process',
  'reading',
  'reader-message',
  'bundle',
  'dependencies',
  'entry-points',
  '../bundled-functions',
  '../define-channel',
  '../files',
  '../archive/archive-files',
  '../archive/unpack',
  '../../archives/tar',
  '../../sandbox/run',
  '../../sandbox/source-map',
];

/** npm packages that the reader uses. */
const libraries = ['esbuild-wasm', 'resolve.exports'];

/** The files that decide what becomes of a package's sources: the reader's code, and which bundler there is. */
export function readerFiles(): string[] {
  const found = libraries.map((name) => packagePaths(name, folder)[0] ?? '');
  return [
    ...codeFiles.map((file) => join(folder, `${file}${extension}`)),
    ...found.map((library) => join(library, 'package.json')),
  ];
}

/** The contents of an archive. */
export interface Answer {
  reading: PackageReading;
  seal: ArchiveSeal | null;
}

type ReadingProcess = ChildProcessByStdio<Writable, Readable, null>;

/** Reads and bundles packages, in folders and in archives. */
export interface PackageReader {
  folder: typeof readInProcess;
  archive: typeof readArchiveInProcess;
}

/**
 * Reads and bundles a package in a process of its own and kills the process: no package, however hostile, takes longer
 * than the bounds or affects the service. Its npm packages are those in its own folder; with `isAuthors` also those that
 * lie in folders above, as npm lays them out for workspaces. Throws a PluginError with the reason when the package cannot be
 * read.
 */
export async function readInProcess(
  directory: string,
  bounds: ReadingBounds = readingBounds,
  { isAuthors = false }: { isAuthors?: boolean } = {},
): Promise<PackageReading> {
  const real = await realpath(directory).catch(() => null);
  if (real === null) throw new PluginError([`There is no folder ${quotedPath(directory)}`]);
  const above = isAuthors ? modulesAbove(real) : [];
  const { reading } = await awaitAnswer(startProcess([real, ...above], [real, ...above]), bounds);
  return reading;
}

/**
 * Like readInProcess, for a gzipped tar archive, which is unpacked in the memory of that process. `seal` is null when the
 * archive cannot be unpacked.
 */
export async function readArchiveInProcess(
  archive: Buffer,
  limits: ArchiveBounds,
  bounds: ReadingBounds = readingBounds,
): Promise<Answer> {
  const child = startProcess(['--archive', String(archive.length), JSON.stringify(limits)]);
  child.stdin.write(archive);
  return awaitAnswer(child, bounds);
}

/**
 * Waits for the answer of the process, with at most the processor time that the bounds allow, then kills it. Rejects with a PluginError.
 */
function awaitAnswer(child: ReadingProcess, bounds: ReadingBounds): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let seal: ArchiveSeal | null = null;
  const reader = new LineReader(maxReaderLineBytes);
  const fail = (problem: string): void => reject(new PluginError([problem]));
  const tooSlow = `Reading and bundling the package took more than ${bounds.readMs / 1000} s of processor time`;
  const tooLarge = `Reading and bundling the package took more than ${maxRssMb} MiB of memory`;
  let stage = {
    clock: new ComputingClock(child.pid),
    mostMs: readyMs,
    late: 'The process that reads packages did not start',
  };
  const watch = setInterval(() => {
    const { clock, mostMs, late } = stage;
    if (clock.computedMs > mostMs) fail(late);
    if (clock.passedMs > patienceMs) fail('The machine is too busy to read packages');
    if (child.pid !== undefined && (residentMb(child.pid) ?? 0) > maxRssMb) fail(tooLarge);
  }, watchEveryMs);

  function receive(message: ReaderMessage | null): void {
    if (message?.type === 'ready') {
      stage = { clock: new ComputingClock(child.pid), mostMs: bounds.readMs, late: tooSlow };
    } else if (message?.type === 'unpacked') seal ??= { filesHash: message.filesHash, signature: message.signature };
    else if (message) resolve({ reading: { ...message, problems: message.problems.map(printable) }, seal });
    else fail('The process that reads packages broke its protocol');
  }

  child.stdout.on('data', (chunk: Buffer) => {
    const lines = reader.read(chunk);
    if (!lines) fail('The process that reads packages broke its protocol');
    for (const line of lines ?? []) receive(parseReaderMessage(line));
  });
  child.stdin.on('error', () => undefined);
  child.on('error', (error) => fail(`The process that reads packages cannot be started: ${error.message}`));
  child.on('exit', (code, signal) => fail(`Bundling the package ended its process (${signal ?? code})`));
  return promise.finally(() => {
    clearInterval(watch);
    child.kill('SIGKILL');
  });
}

let code: readonly string[] | undefined;

/** The reader's modules as its process runs them, the program first. */
export function readerCode(): readonly string[] {
  return (code ??= childCode(folder, codeFiles));
}

/** Starts a process that can read only these folders and its own code, start no process and open no debugger. */
function startProcess(args: readonly string[], folders: readonly string[] = []): ReadingProcess {
  const [program = '', ...modules] = readerCode();
  const readable = [
    program,
    ...modules,
    join(folder, '../../..', 'package.json'),
    ...libraries.flatMap((name) => packagePaths(name, folder)),
    descriptors,
    ...folders,
  ];
  const flags = [
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    '--disable-sigusr1',
    ...bundlerFlags,
    `--wasm-max-mem-pages=${bundlerPages}`,
    `--max-old-space-size=${heapMb}`,
    '--no-warnings',
  ];
  const [shell, given] = limitedCommand([process.execPath, ...flags, program, ...args], maxRssMb, cpuSeconds);
  return spawn(shell, given, { cwd: folder, env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
}
