import ivm from 'isolated-vm';
import { computingMsOf } from '../run.ts';
import type { RunLimits, RunOutcome } from '../run.ts';
import { compiledScript, isolateFilename, isolateScript } from './isolate-code.ts';
import { librariesFor, type IsolateLibrary } from './library-globals.ts';

const compiled = new ivm.ExternalCopy(compiledScript);
// The soonest look at the processor time after the one before it.
const watchEveryMs = 5;

/** The end of a slice: the JSON text of a Step (wire.ts), or the outcome when the isolate was stopped from outside. */
export type SliceEnd = { step: string } | StoppedSlice;
type StoppedSlice = { outcome: RunOutcome; error: string };

/** A run in an isolate of its own; its slices share one budget of computing time and must not overlap. */
export interface IsolateRun {
  /** First slice: loads the code and calls the handler. `tell` gets each line of the log as JSON text. */
  start(code: string, input: string, tell: (line: string) => void): Promise<SliceEnd>;
  /** Next slice: continues with the answers to the requests of the last step, as JSON text. */
  resume(answers: string): Promise<SliceEnd>;
  /** Frees the isolate; no method may be called afterwards. */
  dispose(): void;
}

type Argument = string | ivm.Callback<(line: string) => void>;
type SliceFunction = ivm.Reference<(...given: Argument[]) => void>;

/** The functions of isolate/bootstrap.ts. */
interface Entries {
  start: SliceFunction;
  resume: SliceFunction;
  collect: ivm.Reference<() => string>;
}

/** An isolate in which our own code is loaded and nothing of a bot: for one run. */
export interface PreparedIsolate {
  readonly heapMb: number;
  /** Whether V8 used the compiled form of our own code, instead of compiling it again. */
  readonly tookCompiled: boolean;
  /** Begins the run; to be called once. `computingMs` is the computing time of all its slices together. */
  begin(limits: RunLimits, computingMs: number): IsolateRun;
  dispose(): void;
}

/**
 * Prepares an isolate for a run with `heapMb` MiB of heap. `onCatastrophe` is called with V8's reason when V8 itself failed:
 * the isolate's thread never ends then, and the process has to be killed.
 */
export function prepareIsolate(heapMb: number, onCatastrophe: (reason: string) => void): PreparedIsolate {
  const isolate = new ivm.Isolate({ memoryLimit: heapMb, onCatastrophicError: onCatastrophe });
  const context = isolate.createContextSync();
  const script = isolate.compileScriptSync(isolateScript, { filename: isolateFilename, cachedData: compiled });
  const { cachedDataRejected } = script as { cachedDataRejected?: boolean };
  const own = script.runSync(context, { reference: true }) as ivm.Reference<Record<string, () => string>>;
  const entries: Entries = {
    start: own.getSync('start', { reference: true }),
    resume: own.getSync('resume', { reference: true }),
    collect: own.getSync('collect', { reference: true }),
  };
  const dispose = () => {
    if (!isolate.isDisposed) isolate.dispose();
  };
  return {
    heapMb,
    tookCompiled: cachedDataRejected === false,
    dispose,
    begin: (limits, computingMs) => {
      const { start, resume } = slicesOf(isolate, entries, { ...limits, computingMs });
      const startWith: IsolateRun['start'] = async (code, input, tell) => {
        for (const library of librariesFor(code)) loadLibrary(library, isolate, context);
        return start(code, input, tell);
      };
      return { start: startWith, resume, dispose };
    },
  };
}

/** The compiled form of libraries, as V8 made it in this process. */
const compiledLibraries = new Map<string, ivm.ExternalCopy<ArrayBuffer>>();

function loadLibrary({ filename, script: text }: IsolateLibrary, isolate: ivm.Isolate, context: ivm.Context): void {
  const cachedData = compiledLibraries.get(filename);
  const options = { filename, ...(cachedData ? { cachedData } : { produceCachedData: true as const }) };
  const script = isolate.compileScriptSync(text, options);
  script.runSync(context);
  if ('cachedData' in script && script.cachedData)
    compiledLibraries.set(filename, script.cachedData as typeof compiled);
  script.release();
}

function slicesOf(
  isolate: ivm.Isolate,
  { start, resume, collect }: Entries,
  limits: RunLimits & { computingMs: number },
): Pick<IsolateRun, 'start' | 'resume'> {
  let computedMs = 0;

  async function runSlice(entry: SliceFunction, ...given: Argument[]): Promise<SliceEnd> {
    const leftMs = limits.computingMs - computedMs;
    const allowedMs = Math.min(limits.sliceMs, leftMs);
    const tooLong: StoppedSlice = { outcome: 'timeout', error: limitError(limits, leftMs) };
    if (allowedMs <= 0) return tooLong;
    let isOver = false;
    const slice = limitComputing(allowedMs, () => {
      isOver = true;
      isolate.dispose();
    });
    try {
      // The promise jobs of the call run within it. `collect` is our own code, but a bot may have found a way to make it slow.
      await entry.apply(undefined, given, { result: { copy: true } });
      return { step: await collect.apply(undefined, [], { result: { copy: true } }) };
    } catch (error) {
      return isOver ? tooLong : describeStop(isolate, error);
    } finally {
      computedMs += slice.end();
    }
  }

  return {
    start: (code, input, tell) => runSlice(start, code, input, new ivm.Callback(tell)),
    resume: (answers) => runSlice(resume, answers),
  };
}

/**
 * Calls `stop` once the process has computed for this long. isolated-vm's own limit would stop what others on the machine
 * delay, as its `timeout` and, on Linux, its `cpuTime` count the time that passes. The process's time is the isolate's:
 * one run is under way at a time, and nothing else computes beside it. `end` returns what was computed.
 */
function limitComputing(allowedMs: number, stop: () => void): { end: () => number } {
  const beganAt = performance.now();
  const before = process.cpuUsage();
  const computedMs = (): number => {
    const { user, system } = process.cpuUsage(before);
    return Math.min((user + system) / 1000, performance.now() - beganAt);
  };
  let timer: NodeJS.Timeout;
  const look = (): void => {
    const leftMs = allowedMs - computedMs();
    if (leftMs <= 0) stop();
    else timer = setTimeout(look, Math.max(leftMs, watchEveryMs));
  };
  timer = setTimeout(look, allowedMs);
  return {
    end: () => {
      clearTimeout(timer);
      return computedMs();
    },
  };
}

function limitError(limits: RunLimits, leftMs: number): string {
  const { sliceMs } = limits;
  return leftMs < sliceMs
    ? `CPU limit exceeded: more than ${computingMsOf(limits)} ms in all slices together (twice limits.sliceMs)`
    : `CPU limit exceeded: more than ${sliceMs} ms in one slice (limits.sliceMs)`;
}

/**
 * Why a slice failed. Judges by the isolate's state, not by the error: isolated-vm rejects a call with any rejection
 * that the bot left unhandled, so the bot can choose the error's text.
 */
function describeStop(isolate: ivm.Isolate, error: unknown): StoppedSlice {
  if (isolate.isDisposed) return { outcome: 'memory', error: 'The memory limit was reached' };
  const message = error instanceof Error ? error.message : String(error);
  return { outcome: 'threw', error: `A rejected promise was not handled: ${message}` };
}
