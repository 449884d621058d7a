import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { printable } from '../lib/printable.ts';
import { limitedCommand } from '../sandbox/child-limits.ts';
import { packagePaths, residentMb } from '../sandbox/child-process.ts';
import { maxAnswerBytes, readPackageAnswer } from './answer.ts';
import type { PackageAnswer } from './answer.ts';
import { descriptors } from './files.ts';
import { PluginError } from './plugin-error.ts';
import { LineReader } from '../sandbox/wire.ts';

/** What reading a package gave; `manifest` and `code` are texts that nobody has looked at yet. */
export type PackageReading = Omit<Extract<PackageAnswer, { type: 'read' }>, 'type'>;

/** What reading and bundling one package may use. */
export interface ReadingBounds {
  /** For all that the package makes it do, in milliseconds. */
  readMs: number;
}

/** The bounds of every package that is read. */
export const readingBounds: ReadingBounds = { readMs: 10_000 };

// Of the process alone, before it looks at the package: on a machine that is busy this takes seconds.
const readyMs = 30_000;
// Of WebAssembly, in pages of 64 KiB, of JavaScript, and of the process as a whole.
const bundlerPages = 4096;
const heapMb = 64;
const maxRssMb = 512;
// Computing time of the process: ends it when the service, which watches it, was killed.
const cpuSeconds = 30;
const watchEveryMs = 50;

const folder = realpathSync(import.meta.dirname);
const codeFiles = ['reader-process.ts', 'answer.ts', 'files.ts', 'bundle.ts', '../sandbox/run.ts'];

type ReadingProcess = ChildProcessByStdio<Writable, Readable, null>;

/**
 * Reads and bundles a package in a process of its own, which is killed then: whatever the package holds, this ends within
 * the bounds, and nobody else notices. Throws a PluginError that says why nothing came of it.
 */
export async function readInProcess(directory: string, bounds: ReadingBounds = readingBounds): Promise<PackageReading> {
  const real = await realpath(directory).catch(() => null);
  if (real === null) throw new PluginError(['There is no such folder']);
  const { manifest, code, problems } = await awaitAnswer(startProcess(real), bounds);
  return { manifest, code, problems: problems.map(printable) };
}

/** Waits for the answer of the process, within the bounds, and kills it. Rejects with a PluginError. */
function awaitAnswer(child: ReadingProcess, bounds: ReadingBounds): Promise<PackageReading> {
  const { promise, resolve, reject } = Promise.withResolvers<PackageReading>();
  const reader = new LineReader(maxAnswerBytes);
  const fail = (problem: string): void => reject(new PluginError([problem]));
  const tooSlow = `Reading and bundling the package took longer than ${bounds.readMs / 1000} s`;
  const tooLarge = `Reading and bundling the package took more than ${maxRssMb} MiB of memory`;
  let timer = setTimeout(() => fail('The process that reads packages did not start'), readyMs);
  const watch = setInterval(() => {
    if (child.pid !== undefined && (residentMb(child.pid) ?? 0) > maxRssMb) fail(tooLarge);
  }, watchEveryMs);

  function receive(answer: PackageAnswer | null): void {
    if (answer?.type === 'ready') {
      clearTimeout(timer);
      timer = setTimeout(() => fail(tooSlow), bounds.readMs);
    } else if (answer) resolve(answer);
    else fail('The process that reads packages broke its protocol');
  }

  child.stdout.on('data', (chunk: Buffer) => {
    const lines = reader.read(chunk);
    if (!lines) fail('The process that reads packages broke its protocol');
    for (const line of lines ?? []) receive(readPackageAnswer(line));
  });
  child.stdin.on('error', () => undefined);
  child.on('error', (error) => fail(`The process that reads packages cannot be started: ${error.message}`));
  child.on('exit', (code, signal) => fail(`Bundling the package ended its process (${signal ?? code})`));
  return promise.finally(() => {
    clearTimeout(timer);
    clearInterval(watch);
    child.kill('SIGKILL');
  });
}

/** Starts a process that can read the package's folder and its own code, starts no other, and opens no debugger. */
function startProcess(directory: string): ReadingProcess {
  const own = [...codeFiles.map((file) => join(folder, file)), join(folder, '..', '..', 'package.json')];
  const readable = [...own, ...packagePaths('esbuild-wasm', folder), descriptors, directory];
  const flags = [
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    '--disable-sigusr1',
    // The guard pages of WebAssembly would not fit into the limit on addresses.
    '--disable-wasm-trap-handler',
    // esbuild runs for an instant: optimizing it takes ten times as long.
    '--liftoff-only',
    `--wasm-max-mem-pages=${bundlerPages}`,
    `--max-old-space-size=${heapMb}`,
    '--no-warnings',
  ];
  const command = [process.execPath, ...flags, join(folder, 'reader-process.ts'), directory];
  const [program, args] = limitedCommand(command, maxRssMb, cpuSeconds);
  return spawn(program, args, { cwd: folder, env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
}
