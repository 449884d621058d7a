import { residentMb } from '../child-process.ts';
import type { SandboxProcess } from '../child-process.ts';
import { ComputingClock } from '../computing-clock.ts';
import { cannotGiveUpRoot } from '../child/give-up-rights.ts';
import type { Answered, OngoingRun } from './ongoing-run.ts';
import { runBounds } from '../run.ts';
import { processBounds, type ProcessBounds } from './process-bounds.ts';
import type { LogLine, RunLimits, RunOutcome } from '../run.ts';
import { withoutMap } from '../source-map.ts';
import { LineReader, keptBundles, maxChildLineBytes, readChildMessage } from '../wire.ts';
import type { ChildMessage, ParentMessage, Step } from '../wire.ts';

/** The end of a run, its actions not validated yet. */
export interface RawResult {
  outcome: RunOutcome;
  actions: unknown[];
  error?: string;
  handlers?: string[];
}

/** A run that has left its child to wait for the service. */
export interface WaitingRun {
  answered: Promise<Answered>;
}

/** Callbacks of the pool that owns a process. */
export interface ProcessListener {
  /** The process has started and can take its first run. */
  onReady(process: WatchedProcess): void;
  /** The process has exited. `cause` is a sentence; `wasReady` says whether `onReady` had been called before. */
  onExit(process: WatchedProcess, wasReady: boolean, cause: string): void;
}

/** How a process is started, its memory limit (`maxRssMb`, in MiB) and its bounds of time. */
export interface ProcessOptions {
  start: (maxRssMb: number) => SandboxProcess;
  maxRssMb: number;
  bounds?: ProcessBounds;
}

interface ActiveRun {
  readonly id: number;
  readonly run: OngoingRun;
  readonly startedAt: number;
  /** The run's remaining computing time at the beginning of the child's current slice. */
  computingLeftMs: number;
  /** The computing time until the child's next message. */
  allowedMs: number;
  /** The clock of the slice; null while the child waits for answers of the service. */
  clock: ComputingClock | null;
  readonly logs: LogLine[];
  cpuMs: number;
  readonly resolve: (end: RawResult | WaitingRun) => void;
}

const watchEveryMs = 20;
/** The isolate ends its slice by itself; a child that is later than this can no longer be stopped from within. */
const overrunGraceMs = 200;
const watchStartEveryMs = 100;
/** A run keeps its child for calls that are answered within this time; executing it again would take longer. */
const heldMs = 5;
/** A child that still uses more than this part of `maxRssMb` after a run is replaced, so that the next run has room. */
const keptMemoryPart = 0.6;

/** A child process and its current run. Kills the child when the run misses a deadline or takes too much memory. */
export class WatchedProcess {
  readonly #child: SandboxProcess;
  readonly #options: ProcessOptions;
  readonly #bounds: ProcessBounds;
  readonly #listener: ProcessListener;
  readonly #reader = new LineReader(maxChildLineBytes);
  readonly #knownBundles = new Set<string>();
  readonly #startTimer: NodeJS.Timeout;
  #watch: NodeJS.Timeout | undefined;
  #active: ActiveRun | null = null;
  #lastRun = 0;
  #isReady = false;
  #isDoomed = false;
  #isGone = false;

  constructor(options: ProcessOptions, listener: ProcessListener) {
    this.#options = options;
    this.#bounds = options.bounds ?? processBounds;
    this.#listener = listener;
    this.#child = options.start(options.maxRssMb);
    const clock = new ComputingClock(this.pid);
    this.#startTimer = setInterval(() => this.#checkStart(clock), watchStartEveryMs);
    this.#child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    // Writing to a child that has just died fails; the `exit` event reports the death.
    this.#child.stdin.on('error', () => undefined);
    this.#child.on('error', () => this.#leave('The sandbox process failed'));
    this.#child.on('exit', (code, signal) => this.#leave(describeExit(code, signal)));
  }

  /** The process id; undefined when the process could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** False once the process is dead or has been sent SIGKILL. */
  get isUsable(): boolean {
    return !this.#isDoomed && !this.#isGone;
  }

  /**
   * Executes a run until it ends or waits for the service for longer than a moment; to be called after `onReady`, while
   * `isUsable`, and with no other run under way. Never rejects.
   */
  run(run: OngoingRun): Promise<RawResult | WaitingRun> {
    const { promise, resolve } = Promise.withResolvers<RawResult | WaitingRun>();
    const { rounds, input, computingLeftMs } = run;
    const { bundle, limits } = run.request;
    const id = (this.#lastRun += 1);
    const startedAt = performance.now();
    const slice = { computingLeftMs, allowedMs: 0, clock: null };
    this.#active = { id, run, startedAt, ...slice, logs: [], cpuMs: 0, resolve };
    this.#sendBundle(bundle.hash, bundle.code);
    this.#giveSlice(this.#active, rounds.length + 1);
    const computingMs = Math.ceil(computingLeftMs);
    this.#send({ type: 'run', run: id, hash: bundle.hash, input, limits, computingMs, rounds });
    this.#watch = setInterval(() => this.#check(), watchEveryMs);
    return promise;
  }

  /** Kills the process at once; the current run, if any, ends with this outcome. */
  kill(outcome: RunOutcome, error: string): void {
    this.#doom();
    this.#finish({ outcome, actions: [], error });
  }

  #doom(): void {
    this.#isDoomed = true;
    this.#child.kill('SIGKILL');
  }

  #sendBundle(hash: string, code: string): void {
    if (this.#knownBundles.has(hash)) return;
    if (this.#knownBundles.size >= keptBundles) this.#knownBundles.clear();
    this.#knownBundles.add(hash);
    this.#send({ type: 'bundle', hash, code: withoutMap(code) });
  }

  #send(message: ParentMessage): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #endSlice(active: ActiveRun): void {
    const { clock } = active;
    if (!clock) return;
    const { computedMs, passedMs } = clock;
    active.computingLeftMs -= computedMs;
    active.run.addSlice({ computedMs, stalledMs: passedMs - computedMs });
    active.clock = null;
  }

  #giveSlice(active: ActiveRun, slices = 1): void {
    const { sliceMs } = active.run.request.limits;
    active.allowedMs = Math.min(slices * sliceMs, Math.max(active.computingLeftMs, 0));
    active.clock = new ComputingClock(this.pid);
  }

  #read(chunk: Buffer): void {
    if (!this.isUsable) return;
    const lines = this.#reader.read(chunk);
    if (!lines) {
      this.kill('output_too_large', 'The sandbox wrote more than a run may return');
      return;
    }
    for (const line of lines) if (this.isUsable) this.#receive(readChildMessage(line));
  }

  #receive(message: ChildMessage | null): void {
    const active = this.#active;
    if (message?.type === 'ready' && !this.#isReady) {
      clearInterval(this.#startTimer);
      this.#isReady = true;
      this.#listener.onReady(this);
    } else if (!message || message.type === 'ready' || message.run !== active?.id) {
      this.kill('crashed', 'The sandbox broke its protocol');
    } else if (message.type === 'log') {
      this.#keepLine(active, message.line);
    } else {
      active.cpuMs = message.cpuMs;
      if (message.type === 'step') this.#advance(active, message);
      else this.#end({ outcome: message.outcome, actions: [], error: message.error });
    }
  }

  #keepLine({ logs }: ActiveRun, line: LogLine): void {
    if (logs.length <= runBounds.logLines) logs.push(line);
    else this.kill('crashed', 'The sandbox broke its protocol');
  }

  #advance(active: ActiveRun, { step, digest }: { step: Step; digest: string }): void {
    if (step.state === 'waiting') {
      if (active.run.mayAsk(step.requests)) void this.#serve(active, active.run.answer(step.requests, digest));
      else this.kill('crashed', 'The sandbox broke its protocol');
    } else if (step.state === 'never_settled') {
      this.#end({ outcome: 'never_settled', actions: [], error: 'The handler waits for something that cannot happen' });
    } else {
      const { outcome, actions, error, handlers } = step;
      this.#end({ outcome, actions, ...(error ? { error } : {}), ...(handlers ? { handlers } : {}) });
    }
  }

  async #serve(active: ActiveRun, answering: Promise<Answered>): Promise<void> {
    this.#endSlice(active);
    const answered = await inTime(answering);
    if (this.#active !== active) return;
    if (answered !== null && 'answers' in answered) {
      this.#giveSlice(active);
      this.#send({ type: 'answers', run: active.id, answers: answered.answers });
      return;
    }
    this.#send({ type: 'drop', run: active.id });
    if (answered === null) this.#finish({ answered: answering });
    else this.#finish({ outcome: 'forbidden_action', actions: [], error: answered.forbidden });
  }

  #checkStart(clock: ComputingClock): void {
    const { startComputingMs, startMs } = this.#bounds;
    const isLate = clock.computedMs > startComputingMs || clock.passedMs > startMs;
    if (isLate) this.kill('unavailable', 'The sandbox did not start');
  }

  #check(): void {
    const active = this.#active;
    if (!active) return;
    const { clock, allowedMs, run, startedAt } = active;
    const lateMs = performance.now() - startedAt - run.wallLeftMs;
    if (clock && clock.passedMs > allowedMs + overrunGraceMs) this.#checkSlice(active, clock);
    else if (lateMs > 0 && lateMs > (clock?.stalledMs ?? 0)) this.kill('deadline', deadlineError(run.request.limits));
    if (this.#active && this.#residentMb() > this.#options.maxRssMb) {
      this.kill('rss_limit', `The sandbox process took more than ${this.#options.maxRssMb} MiB`);
    }
  }

  /** Judges a slice that lasts for longer than it may compute. */
  #checkSlice({ allowedMs, run }: ActiveRun, clock: ComputingClock): void {
    const { computedMs, passedMs } = clock;
    const { stallMs } = this.#bounds;
    if (computedMs > allowedMs + overrunGraceMs || clock.looksHung())
      this.kill('unresponsive', 'CPU limit exceeded: the bot could not be stopped and was killed');
    else if (run.stalledMs + passedMs - computedMs > stallMs)
      this.kill('unavailable', `The machine was too busy: the run was stalled for more than ${stallMs / 1000} s`);
  }

  #residentMb(): number {
    return (this.pid === undefined ? null : residentMb(this.pid)) ?? 0;
  }

  /** Ends a run that the child itself reported as ended: the child is kept, unless it uses too much memory. */
  #end(result: RawResult): void {
    const isSpoilt = result.outcome === 'memory' || this.#residentMb() > this.#options.maxRssMb * keptMemoryPart;
    if (isSpoilt) this.#doom();
    this.#finish(result);
  }

  #finish(end: RawResult | WaitingRun): void {
    const active = this.#active;
    if (!active) return;
    const { run, startedAt, logs, cpuMs, resolve } = active;
    this.#active = null;
    clearInterval(this.#watch);
    this.#endSlice(active);
    run.addExecution({ logs, cpuMs, wallMs: performance.now() - startedAt });
    resolve(end);
  }

  #leave(error: string): void {
    if (this.#isGone) return;
    this.#isGone = true;
    clearInterval(this.#startTimer);
    this.#finish({ outcome: 'crashed', actions: [], error });
    this.#listener.onExit(this, this.#isReady, error);
  }
}

/** The error of a run that ended as `deadline`. */
export function deadlineError({ wallMs }: RunLimits): string {
  return `The run took longer than ${wallMs} ms`;
}

/** Returns the promise's value; null if that takes longer than a child is held. */
async function inTime(answering: Promise<Answered>): Promise<Answered | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), heldMs);
  const first = await Promise.race([answering, late.promise]);
  clearTimeout(timer);
  return first;
}

function describeExit(code: number | null, signal: string | null): string {
  if (code === cannotGiveUpRoot)
    return 'This root may not become another account, and no bot runs as root: start the service as an ordinary user';
  return `The sandbox process died (${signal ?? code})`;
}
