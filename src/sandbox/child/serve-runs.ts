// The program of a sandbox process: takes runs from stdin, one at a time, and writes their steps to stdout. The parent
// may kill the process at any moment, so it keeps no state but a cache of bundles and an isolate for the next run.
import { giveUpRights } from './give-up-rights.ts';
import type { IsolateRun, SliceEnd } from './isolate.ts';
import { SpareIsolate } from './spare-isolate.ts';
import { LineReader, keptBundles, maxParentLineBytes } from '../wire.ts';
import type { ParentMessage } from '../wire.ts';
import { defaultLimits } from '../run.ts';

const bundles = new Map<string, string>();
const current: { run: number; isolate: IsolateRun | null; heapMb: number } = {
  run: 0,
  isolate: null,
  heapMb: defaultLimits.heapMb,
};
const isolates = new SpareIsolate((reason) => sayFailed(current.run, 'memory', `V8 gave up: ${reason}`));

/**
 * Writes a JSON object whose inside is `fields`. Text of the isolate is passed on unparsed: the parent validates it.
 */
function say(fields: string): void {
  process.stdout.write(`{${fields}}\n`);
}

function sayFailed(run: number, outcome: string, error: string): void {
  say(`"type":"failed","run":${run},"outcome":"${outcome}","error":${JSON.stringify(error.slice(0, 1000))}`);
}

function closeIsolate(): void {
  current.isolate?.dispose();
  current.isolate = null;
  // Later, so that the parent gets the result first.
  setImmediate(prepareNext);
}

// The next run probably has the same limit, as most manifests set none.
function prepareNext(): void {
  if (!current.isolate) isolates.prepare(current.heapMb);
}

function report(run: number, end: SliceEnd): void {
  if ('outcome' in end) {
    closeIsolate();
    sayFailed(run, end.outcome, end.error);
    return;
  }
  const { state } = JSON.parse(end.step) as { state: string };
  if (state !== 'waiting') closeIsolate();
  say(`"type":"step","run":${run},"step":${end.step}`);
}

async function startRun(message: Extract<ParentMessage, { type: 'run' }>): Promise<void> {
  const { run, hash, input, limits } = message;
  const code = bundles.get(hash);
  if (code === undefined) {
    sayFailed(run, 'crashed', 'The bundle is missing');
    return;
  }
  current.run = run;
  current.heapMb = limits.heapMb;
  current.isolate = isolates.take(limits.heapMb).begin(limits);
  report(run, await current.isolate.start(code, input));
}

async function resumeRun({ run, answers }: Extract<ParentMessage, { type: 'answers' }>): Promise<void> {
  if (current.run !== run || !current.isolate) return;
  report(run, await current.isolate.resume(answers));
}

function keepBundle(hash: string, code: string): void {
  if (bundles.size >= keptBundles) bundles.clear();
  bundles.set(hash, code);
}

function receive(message: ParentMessage): void {
  if (message.type === 'bundle') {
    keepBundle(message.hash, message.code);
    return;
  }
  const work = message.type === 'run' ? startRun(message) : resumeRun(message);
  work.catch((error: unknown) => sayFailed(message.run, 'crashed', String(error)));
}

// SIGKILL, because an ordinary exit would wait for the isolate's thread, which may never end.
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

const reader = new LineReader(maxParentLineBytes);
process.stdin.on('data', (chunk: Buffer) => {
  const lines = reader.read(chunk);
  if (!lines) die();
  for (const line of lines ?? []) receive(JSON.parse(line) as ParentMessage);
});
// The end of stdin means that the parent has ended or crashed.
process.stdin.on('end', die);
process.stdin.on('error', die);
process.stdout.on('error', die);
giveUpRights(Number(process.argv[2]));
prepareNext();
say('"type":"ready"');
