import { residentMb } from '../child-process.ts';
import type { SandboxProcess } from '../child-process.ts';
import { cannotGiveUpRoot } from '../child/give-up-rights.ts';
import { answerCalls } from './host-calls.ts';
import { computingMsOf } from '../run.ts';
import type { HostCall, LogLine, RunOutcome, RunRequest } from '../run.ts';
import { LineReader, keptBundles, maxChildLineBytes, readChildMessage } from '../wire.ts';
import type { CallRequest, ChildMessage, ParentMessage, Step } from '../wire.ts';

/** The end of a run, its actions not validated yet. */
export interface RawResult {
  outcome: RunOutcome;
  actions: unknown[];
  logs: LogLine[];
  error?: string;
  handlers?: string[];
  wallMs: number;
}

/** Callbacks of the pool that owns a process. */
export interface ProcessListener {
  /** The process has started and can take its first run. */
  onReady(process: WatchedProcess): void;
  /** The process has exited. `cause` is a sentence; `wasReady` says whether `onReady` had been called before. */
  onExit(process: WatchedProcess, wasReady: boolean, cause: string): void;
}

/** How a process is started, its memory limit (`maxRssMb`, in MiB) and the host calls that its bots may make. */
export interface ProcessOptions {
  start: (maxRssMb: number) => SandboxProcess;
  maxRssMb: number;
  hostCalls: Readonly<Record<string, HostCall>>;
}

interface ActiveRun {
  readonly id: number;
  readonly request: RunRequest;
  readonly startedAt: number;
  /** The run's remaining computing time at the beginning of the child's current slice. */
  computingLeftMs: number;
  sliceBeganAt: number;
  /** The deadline for the child's next message; infinite while the child waits for answers of the service. */
  sliceEndsAt: number;
  readonly abort: AbortController;
  readonly resolve: (result: RawResult) => void;
}

const watchEveryMs = 20;
/** The isolate ends its slice by itself; a child that is later than this can no longer be stopped from within. */
const overrunGraceMs = 200;
const readyWithinMs = 10_000;
/** A child that still uses more than this part of `maxRssMb` after a run is replaced, so that the next run has room. */
const keptMemoryPart = 0.6;

/** One child process and its current run. Kills the child when the run misses a deadline or takes too much memory. */
export class WatchedProcess {
  readonly #child: SandboxProcess;
  readonly #options: ProcessOptions;
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
    this.#listener = listener;
    this.#child = options.start(options.maxRssMb);
    this.#startTimer = setTimeout(() => this.kill('crashed', 'The sandbox did not start'), readyWithinMs);
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
   * Runs one request; to be called after `onReady`, while `isUsable`, and with no other run under way. `input` is the
   * JSON for the isolate. Never rejects.
   */
  run(request: RunRequest, input: string): Promise<RawResult> {
    const { promise, resolve } = Promise.withResolvers<RawResult>();
    const { bundle, limits } = request;
    const id = (this.#lastRun += 1);
    const startedAt = performance.now();
    const slice = { computingLeftMs: computingMsOf(limits), sliceBeganAt: startedAt, sliceEndsAt: 0 };
    this.#active = { id, request, startedAt, ...slice, abort: new AbortController(), resolve };
    this.#sendBundle(bundle.hash, bundle.code);
    this.#giveSlice(this.#active);
    this.#send({ type: 'run', run: id, hash: bundle.hash, input, limits });
    this.#watch = setInterval(() => this.#check(), watchEveryMs);
    return promise;
  }

  /** Kills the process at once; the current run, if any, ends with this outcome. */
  kill(outcome: RunOutcome, error: string): void {
    this.#doom();
    this.#finish({ outcome, actions: [], logs: [], error });
  }

  #doom(): void {
    this.#isDoomed = true;
    this.#child.kill('SIGKILL');
  }

  #sendBundle(hash: string, code: string): void {
    if (this.#knownBundles.has(hash)) return;
    if (this.#knownBundles.size >= keptBundles) this.#knownBundles.clear();
    this.#knownBundles.add(hash);
    this.#send({ type: 'bundle', hash, code });
  }

  #send(message: ParentMessage): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #giveSlice(active: ActiveRun): void {
    const allowedMs = Math.min(active.request.limits.sliceMs, Math.max(active.computingLeftMs, 0));
    active.sliceBeganAt = performance.now();
    active.sliceEndsAt = active.sliceBeganAt + allowedMs + overrunGraceMs;
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
      clearTimeout(this.#startTimer);
      this.#isReady = true;
      this.#listener.onReady(this);
    } else if (!message || message.type === 'ready' || message.run !== active?.id) {
      this.kill('crashed', 'The sandbox broke its protocol');
    } else if (message.type === 'failed') {
      this.#end({ outcome: message.outcome, actions: [], logs: [], error: message.error });
    } else {
      this.#advance(active, message.step);
    }
  }

  #advance(active: ActiveRun, step: Step): void {
    if (step.state === 'waiting') {
      void this.#serve(active, step.requests);
    } else if (step.state === 'never_settled') {
      const error = 'The handler waits for something that cannot happen';
      this.#end({ outcome: 'never_settled', actions: [], logs: step.logs, error });
    } else {
      const { outcome, actions, logs, error, handlers } = step;
      this.#end({ outcome, actions, logs, ...(error ? { error } : {}), ...(handlers ? { handlers } : {}) });
    }
  }

  async #serve(active: ActiveRun, requests: CallRequest[]): Promise<void> {
    if (requests.length === 0) {
      this.kill('crashed', 'The sandbox broke its protocol');
      return;
    }
    active.computingLeftMs -= performance.now() - active.sliceBeganAt;
    active.sliceEndsAt = Infinity;
    const { request: run, abort } = active;
    const { hostCalls } = this.#options;
    const answers = await answerCalls(requests, { hostCalls, run, signal: abort.signal });
    if (this.#active !== active) return;
    this.#giveSlice(active);
    this.#send({ type: 'answers', run: active.id, answers });
  }

  #check(): void {
    const active = this.#active;
    if (!active) return;
    const now = performance.now();
    const { wallMs } = active.request.limits;
    if (now > active.sliceEndsAt) this.kill('unresponsive', 'The bot could not be stopped and was killed');
    else if (now - active.startedAt > wallMs) this.kill('deadline', `The run took longer than ${wallMs} ms`);
    else if (this.#residentMb() > this.#options.maxRssMb) {
      this.kill('rss_limit', `The sandbox process took more than ${this.#options.maxRssMb} MiB`);
    }
  }

  #residentMb(): number {
    return (this.pid === undefined ? null : residentMb(this.pid)) ?? 0;
  }

  /** Ends a run that the child itself reported as ended: the child is kept, unless it uses too much memory. */
  #end(result: Omit<RawResult, 'wallMs'>): void {
    const isSpoilt = result.outcome === 'memory' || this.#residentMb() > this.#options.maxRssMb * keptMemoryPart;
    if (isSpoilt) this.#doom();
    this.#finish(result);
  }

  #finish(result: Omit<RawResult, 'wallMs'>): void {
    const active = this.#active;
    if (!active) return;
    this.#active = null;
    clearInterval(this.#watch);
    active.abort.abort();
    active.resolve({ ...result, wallMs: performance.now() - active.startedAt });
  }

  #leave(error: string): void {
    if (this.#isGone) return;
    this.#isGone = true;
    clearTimeout(this.#startTimer);
    this.#finish({ outcome: 'crashed', actions: [], logs: [], error });
    this.#listener.onExit(this, this.#isReady, error);
  }
}

function describeExit(code: number | null, signal: string | null): string {
  if (code === cannotGiveUpRoot)
    return 'This root may not become another account, and no bot runs as root: start the service as an ordinary user';
  return `The sandbox process died (${signal ?? code})`;
}
