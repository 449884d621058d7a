// Workers of `npm test`: processes that each have a PostgreSQL of their own and take one test file after the other.
// Files that mostly wait (for processes, restarts and retries) have a lane of their own beside those that compute.
import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = join(root, 'test/support/test-worker.ts');
const nodeOptions = (JSON.parse(readFileSync(join(root, '.mocharc.json'), 'utf8')) as { 'node-option': string[] })[
  'node-option'
];
/** Files that start, kill and pause processes, and mostly wait for them. */
const waiting = /^test\/(?:boot|cli|demo|faults)\//;
/** No test may take as long, on a busy machine either; a process that reports nothing for this time hangs. */
const silenceMs = 1_200_000;

/** Options of a run that hold for every file. */
export interface RunOptions {
  /** Runs only tests whose full title matches. */
  grep: string | null;
}

/** Results and times of a file; times in milliseconds, processor time with that of child processes. */
export interface FileReport {
  kind: 'done';
  file: string;
  passed: number;
  failed: number;
  skipped: number;
  ms: number;
  cpuMs: number;
  hooksMs: number;
  tests: { title: string; ms: number }[];
  /** The failures as Mocha prints them. */
  failures: string;
}

export type WorkerMessage =
  | FileReport
  | { kind: 'failed'; file: string; title: string; reason: string }
  | { kind: 'skipped'; file: string; title: string }
  | { kind: 'alive' }
  | { kind: 'ended'; problem: string | null };

/** A message that says more than that its process works. */
export type Report = Exclude<WorkerMessage, { kind: 'alive' }>;

/** A run: files in the order in which they begin, and a listener for each message of a worker. */
export interface Run {
  files: readonly string[];
  options: RunOptions;
  onMessage: (message: Report) => void;
}

/** Runs the files on twice as many workers as there are cores; resolves when all have ended. */
export async function runFiles({ files, options, onMessage }: Run): Promise<void> {
  const waitingLane = files.filter((file) => waiting.test(file));
  const computingLane = files.filter((file) => !waiting.test(file));
  const count = Math.min(files.length, 2 * Math.max(2, availableParallelism()));
  const workers = Array.from({ length: count }, async (_, index) => {
    const [own, other] = index % 2 === 0 ? [waitingLane, computingLane] : [computingLane, waitingLane];
    const next = (): string | undefined => own.shift() ?? other.shift();
    // A worker whose process dies is replaced for the files that are left.
    while (!(await work(next, options, onMessage)));
  });
  await Promise.all(workers);
}

/** Has one process run files until there are no more; resolves with false if the process died before. */
function work(
  next: () => string | undefined,
  options: RunOptions,
  onMessage: (message: Report) => void,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = startProcess();
  let current: string | undefined;
  const deal = (): void => {
    current = next();
    child.send(current === undefined ? 'end' : { file: current, options });
  };
  const watch = setInterval(() => child.kill('SIGKILL'), silenceMs);
  child.on('message', (message: WorkerMessage) => {
    watch.refresh();
    if (message.kind === 'alive') return;
    onMessage(message);
    if (message.kind === 'done') deal();
  });
  child.once('exit', (code, signal) => {
    clearInterval(watch);
    if (current !== undefined) for (const message of deathOf(current, code ?? signal)) onMessage(message);
    resolve(current === undefined);
  });
  deal();
  return promise;
}

function startProcess(): ChildProcess {
  // Compiled code is shared: without it each worker compiles the whole service once more.
  const env = { NODE_COMPILE_CACHE: join(tmpdir(), 'switchboard-test-compile-cache'), ...process.env };
  return fork(program, { cwd: root, env, execArgv: nodeOptions.map((option) => `--${option}`) });
}

function deathOf(file: string, cause: number | string | null): Report[] {
  const title = `the test process ended (${cause})`;
  const none = { passed: 0, failed: 1, skipped: 0, ms: 0, cpuMs: 0, hooksMs: 0, tests: [] };
  return [
    { kind: 'failed', file, title, reason: 'every test of the file that had not run is lost' },
    { kind: 'done', file, ...none, failures: `  ${file}: ${title}` },
  ];
}
