import ivm from 'isolated-vm';
import type { RunLimits, RunOutcome } from '../run.ts';
import { compiledScript, isolateFilename, isolateScript } from './isolate-code.ts';

const compiled = new ivm.ExternalCopy(compiledScript);
// `collect` is our own code, but a bot may have found a way to make it slow.
const collectTimeoutMs = 100;
// The bootstrap runs before anything of a bot does, and takes far less than a millisecond.
const loadTimeoutMs = 500;

/** The end of a slice: the JSON text of a Step (wire.ts), or the outcome when the isolate was stopped from outside. */
export type SliceEnd = { step: string } | StoppedSlice;
type StoppedSlice = { outcome: RunOutcome; error: string };

/** One run in an isolate of its own; its slices share one budget of computing time and must not overlap. */
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
  /** Whether V8 took what was compiled of our own code, instead of compiling it again. */
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
  const own = script.runSync(context, { timeout: loadTimeoutMs, reference: true }) as ivm.Reference<
    Record<string, () => string>
  >;
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
    begin: (limits, computingMs) => ({ ...slicesOf(isolate, entries, { ...limits, computingMs }), dispose }),
  };
}

function slicesOf(
  isolate: ivm.Isolate,
  { start, resume, collect }: Entries,
  limits: RunLimits & { computingMs: number },
): Pick<IsolateRun, 'start' | 'resume'> {
  async function runSlice(entry: SliceFunction, ...given: Argument[]): Promise<SliceEnd> {
    const beganAt = msIn(isolate);
    const allowedMs = Math.min(limits.sliceMs, Math.ceil(limits.computingMs - beganAt));
    if (allowedMs <= 0) return { outcome: 'timeout', error: 'The time for computing is over' };
    try {
      // The time limit holds for the promise jobs of the call as well, and not later: so everything happens in here.
      await entry.apply(undefined, given, { timeout: allowedMs, result: { copy: true } });
      return { step: await collect.apply(undefined, [], { timeout: collectTimeoutMs, result: { copy: true } }) };
    } catch (error) {
      const ranMs = isolate.isDisposed ? 0 : msIn(isolate) - beganAt;
      return describeStop(isolate, { ranMs, allowedMs }, error);
    }
  }

  return {
    start: (code, input, tell) => runSlice(start, code, input, new ivm.Callback(tell)),
    resume: (answers) => runSlice(resume, answers),
  };
}

function msIn(isolate: ivm.Isolate): number {
  return Number(isolate.wallTime) / 1e6;
}

/**
 * Why a slice failed. Judges by the isolate's state, not by the error: isolated-vm rejects a call with any rejection
 * that the bot left unhandled, so the bot can choose the error's text. `ranMs` is how long the slice ran; isolated-vm
 * stops it after `allowedMs`.
 */
function describeStop(
  isolate: ivm.Isolate,
  { ranMs, allowedMs }: { ranMs: number; allowedMs: number },
  error: unknown,
): StoppedSlice {
  if (isolate.isDisposed) return { outcome: 'memory', error: 'The memory limit was reached' };
  if (ranMs >= allowedMs) return { outcome: 'timeout', error: 'The time for computing is over' };
  const message = error instanceof Error ? error.message : String(error);
  return { outcome: 'threw', error: `A rejected promise was not handled: ${message}` };
}
