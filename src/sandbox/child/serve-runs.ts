// The program of a sandbox process: takes runs from stdin, one at a time, and writes their steps to stdout. The parent
// may kill the process at any moment, so it keeps no state but a cache of bundles and isolates for the next runs.
import { createHash } from 'node:crypto';
import { giveUpRights } from './give-up-rights.ts';
import type { IsolateRun, SliceEnd } from './isolate.ts';
import { SpareIsolates } from './spare-isolates.ts';
import { LineReader, keptBundles, maxParentLineBytes } from '../wire.ts';
import type { ParentMessage, Round } from '../wire.ts';
import { computingMsOf, defaultLimits } from '../run.ts';

const notRepeatable = 'The bot did something else when it was run again with the same answers';
const bundles = new Map<string, string>();
const current: { run: number; isolate: IsolateRun | null; heapMb: number; cpu: NodeJS.CpuUsage } = {
  run: 0,
  isolate: null,
  heapMb: defaultLimits.heapMb,
  cpu: process.cpuUsage(),
};
const isolates = new SpareIsolates((reason) => sayFailed(current.run, 'memory', `V8 gave up: ${reason}`));

/**
 * Writes a JSON object whose inside is `fields`. Text of the isolate is passed on unparsed: the parent validates it.
 */
function say(fields: string): void {
  process.stdout.write(`{${fields}}\n`);
}

function sayFailed(run: number, outcome: string, error: string): void {
  const text = JSON.stringify(error.slice(0, 1000));
  say(`"type":"failed","run":${run},"cpuMs":${cpuMs()},"outcome":"${outcome}","error":${text}`);
}

// Processor time of the process, which is that of the run (the only one under way) and of V8's work for it.
function cpuMs(): number {
  const { user, system } = process.cpuUsage(current.cpu);
  return (user + system) / 1000;
}

function digestOf(step: string): string {
  return createHash('sha1').update(step).digest('hex');
}

function closeIsolate(): void {
  current.isolate?.dispose();
  current.isolate = null;
  // The next run probably has the same limit, as most manifests set none.
  isolates.prepareSoon(current.heapMb);
}

function report(run: number, end: SliceEnd): void {
  if ('outcome' in end) {
    closeIsolate();
    sayFailed(run, end.outcome, end.error);
    return;
  }
  const waits = isWaiting(end.step);
  const digest = waits ? digestOf(end.step) : '';
  say(`"type":"step","run":${run},"cpuMs":${cpuMs()},"digest":"${digest}","step":${end.step}`);
  // Freed when the parent has the result; nothing of the bot runs any more, since nobody calls it.
  if (!waits) closeIsolate();
}

function isWaiting(step: string): boolean {
  return step.startsWith('{"state":"waiting"');
}

async function startRun(message: Extract<ParentMessage, { type: 'run' }>): Promise<void> {
  const { run, hash, input, limits, computingMs = computingMsOf(limits), rounds = [] } = message;
  const code = bundles.get(hash);
  if (code === undefined) {
    sayFailed(run, 'crashed', 'The bundle is missing');
    return;
  }
  Object.assign(current, { run, heapMb: limits.heapMb, cpu: process.cpuUsage() });
  const isolate = isolates.take(limits.heapMb).begin(limits, computingMs);
  current.isolate = isolate;
  const tell = (line: string): void => say(`"type":"log","run":${run},"line":${line}`);
  report(run, await repeatRounds(isolate, await isolate.start(code, input, tell), rounds));
}

/** Replays a run up to the point of an earlier execution: with the same input and answers it makes the same calls. */
async function repeatRounds(isolate: IsolateRun, begun: SliceEnd, rounds: readonly Round[]): Promise<SliceEnd> {
  let end = begun;
  for (const { digest, answers } of rounds) {
    if ('outcome' in end) return end;
    if (!isWaiting(end.step) || digestOf(end.step) !== digest) return { outcome: 'threw', error: notRepeatable };
    end = await isolate.resume(answers);
  }
  return end;
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
  if (message.type === 'drop') {
    if (current.run === message.run) closeIsolate();
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
isolates.prepare(current.heapMb);
say('"type":"ready"');
