import { startSandboxProcess } from '../child-process.ts';
import type { SandboxProcess } from '../child-process.ts';
import type { Owner } from './fair-queue.ts';
import { PoolShares, type ShareKind } from './pool-shares.ts';
import type { HostCall, RunOutcome, RunRequest, RunResult, Sandbox } from '../run.ts';
import { processBounds, type ProcessBounds } from './process-bounds.ts';
import { HeldAnswers, type HeldBounds } from './held-answers.ts';
import { findOversize, inputOf } from './run-input.ts';
import { refused, toResult } from './run-result.ts';
import { OngoingRun } from './ongoing-run.ts';
import type { Answered } from './ongoing-run.ts';
import { WatchedProcess, deadlineError } from './watched-process.ts';
import type { RawResult, WaitingRun } from './watched-process.ts';

/** The log for warnings to operators, such as children that do not start; a pino logger fits. */
export interface SandboxLog {
  warn(fields: object, message: string): void;
}

/**
 * `size` is the highest number of child processes, a quarter of which are reserved for quick bots, and a quarter of which
 * automations may occupy; `queueLimit` the number of runs of either kind that may wait; a child that uses more than `maxRssMb` MiB is killed.
 */
export interface SandboxOptions {
  size: number;
  queueLimit: number;
  maxRssMb: number;
  /** The host calls that bots may make while they run; none by default. */
  hostCalls?: Readonly<Record<string, HostCall>>;
  log?: SandboxLog;
  /** Starts a child process; tests pass one of their own. */
  start?: (maxRssMb: number) => SandboxProcess;
  /** After this time without a run, the children that are not kept warm end; tests pass a short one. */
  restMs?: number;
  /** Bounds of the children, and of the answers that runs hold; tests pass others. */
  bounds?: ProcessBounds;
  held?: HeldBounds;
}

interface QueuedRun {
  run: OngoingRun;
  owner: Owner;
  kind: ShareKind;
  resolve: (end: RawResult | WaitingRun) => void;
}

/** The part of the children that is reserved for quick bots; at least one child, where there are several. */
const reservedPart = 0.25;
const firstRestartMs = 100;
const lastRestartMs = 5_000;
/** After this many failed starts in a row, waiting runs end as `unavailable`: nobody knows when a child will start. */
const patientStarts = 3;

const usualRestMs = 60_000;

/**
 * Creates a sandbox. Children start when runs wait for them; one that dies is replaced; after failed starts, the delay
 * before the next doubles.
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  return new ProcessPool(options);
}

class ProcessPool implements Sandbox {
  readonly #options: SandboxOptions;
  readonly #processes = new Set<WatchedProcess>();
  readonly #idle: WatchedProcess[] = [];
  readonly #queue: PoolShares<QueuedRun>;
  readonly #held: HeldAnswers;
  readonly #closing = Promise.withResolvers<RawResult>();
  readonly #rest: NodeJS.Timeout;
  #restart: NodeJS.Timeout | undefined;
  /** The number of children that run a bot. */
  #busy = 0;
  /** The number of children since the last rest; a child that dies is replaced up to it. */
  #wanted = 0;
  #keptWarm = 0;
  #failedStarts = 0;
  #isClosed = false;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#queue = new PoolShares(options.queueLimit);
    this.#held = new HeldAnswers(options.held);
    this.#rest = setTimeout(() => this.#endUnused(), options.restMs ?? usualRestMs).unref();
  }

  warm(): void {
    this.#keptWarm = 1;
    this.#startMissing();
  }

  get queued(): number {
    return this.#queue.size;
  }

  async run(request: RunRequest): Promise<RunResult> {
    const input = inputOf(request);
    const { hostCalls = {} } = this.#options;
    const run = new OngoingRun(request, input, hostCalls, this.#held);
    const oversize = findOversize(request, input);
    const raw = oversize === null ? await this.#execute(run) : refused('load_failed', oversize);
    run.end();
    if (raw.outcome === 'waiting_full')
      this.#options.log?.warn({ ...request.owner, reason: raw.error }, 'a run gave way');
    return toResult(raw, run);
  }

  async #execute(run: OngoingRun): Promise<RawResult> {
    let end = await this.#enqueue(run);
    while ('answered' in end) {
      end = (await this.#wait(run, end.answered)) ?? (await this.#enqueue(run, { first: true }));
    }
    return gaveWay(run) ?? end;
  }

  /** Waits for the service; null when the run can go on. */
  async #wait(run: OngoingRun, answering: Promise<Answered>): Promise<RawResult | null> {
    const goOn = run.request.onWait?.();
    const beganAt = performance.now();
    const deadline = Promise.withResolvers<RawResult>();
    const late = refused('deadline', deadlineError(run.request.limits));
    const timer = setTimeout(() => deadline.resolve(late), Math.max(0, run.wallLeftMs));
    const end = await Promise.race([answering, deadline.promise, this.#closing.promise, run.gaveWay]);
    clearTimeout(timer);
    run.spentMs += performance.now() - beganAt;
    goOn?.();
    if (typeof end === 'string') return refused('waiting_full', end);
    if ('forbidden' in end) return refused('forbidden_action', end.forbidden);
    return 'answers' in end ? null : end;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    clearTimeout(this.#rest);
    this.#drain('The sandbox was closed', 'crashed');
    this.#closing.resolve(refused('crashed', 'The sandbox was closed'));
    for (const process of this.#processes) process.kill('crashed', 'The sandbox was closed');
    return this.#whenEmpty();
  }

  #enqueue(run: OngoingRun, place = {}): Promise<RawResult | WaitingRun> | RawResult {
    if (this.#isClosed) return refused('crashed', 'The sandbox is closed');
    const { promise, resolve } = Promise.withResolvers<RawResult | WaitingRun>();
    // The limit counts waiting runs only: a free child takes the run before the limit is checked.
    const { owner, kind = 'bot' } = run.request;
    const queued = { run, owner, kind, resolve };
    const displaced = this.#queue.add(queued, () => this.#dispatch(), place);
    displaced?.resolve(refused('queue_full', `${this.#queue.size} runs are waiting already`));
    return promise;
  }

  #dispatch(): void {
    while (this.#queue.size > 0) {
      while (this.#idle[0]?.isUsable === false) this.#idle.shift();
      const next = this.#idle.length > 0 ? this.#takeNext() : null;
      const over = next && gaveWay(next.run);
      if (over) {
        next.resolve(over);
        continue;
      }
      const process = next && this.#idle.shift();
      if (!process) break;
      void this.#runIn(process, next);
    }
    this.#startMissing();
  }

  #takeNext(): QueuedRun | null {
    const started = this.#idle.length + this.#busy;
    return this.#queue.takeNext({ started, reserve: this.#reserve, most: this.#options.size });
  }

  get #reserve(): number {
    const { size } = this.#options;
    // While children fail to start, the reserved ones may be the only ones.
    return size < 2 || this.#failedStarts > 0 ? 0 : Math.max(1, Math.floor(size * reservedPart));
  }

  async #runIn(process: WatchedProcess, queued: QueuedRun): Promise<void> {
    const { run, resolve } = queued;
    this.#busy += 1;
    const paced = this.#queue.begin(queued);
    const computedBefore = run.computedMs;
    const end = await process.run(run);
    const isMachinesFault = 'outcome' in end && end.outcome === 'unavailable';
    paced({ computedMs: run.computedMs - computedBefore, killed: !process.isUsable && !isMachinesFault });
    this.#busy -= 1;
    this.#rest.refresh();
    if (process.isUsable) this.#idle.push(process);
    resolve(end);
    this.#dispatch();
  }

  #startMissing(): void {
    if (this.#isClosed || this.#restart) return;
    // Children that stay idle while runs wait are reserved, and these runs may not take them.
    const forQueue = this.#queue.size > 0 ? this.#busy + this.#idle.length + this.#queue.size : 0;
    const wanted = Math.max(this.#wanted, this.#keptWarm, forQueue);
    this.#wanted = Math.min(wanted, this.#options.size);
    while (this.#processes.size < this.#wanted) this.#startProcess();
  }

  #endUnused(): void {
    if (this.#busy > 0 || this.#queue.size > 0) return;
    this.#wanted = this.#keptWarm;
    for (const process of this.#idle.splice(this.#keptWarm)) process.kill('crashed', 'The sandbox rests');
  }

  #startProcess(): void {
    const { start = startSandboxProcess, maxRssMb, bounds = processBounds } = this.#options;
    const process = new WatchedProcess(
      { start, maxRssMb, bounds },
      {
        onReady: (ready) => {
          this.#failedStarts = 0;
          this.#idle.push(ready);
          // Restarts the idle time: a process that became ready only after the last run rests from now on, too.
          this.#rest.refresh();
          this.#dispatch();
        },
        onExit: (gone, wasReady, cause) => this.#replace(gone, wasReady, cause),
      },
    );
    this.#processes.add(process);
  }

  #replace(gone: WatchedProcess, wasReady: boolean, cause: string): void {
    this.#processes.delete(gone);
    const at = this.#idle.indexOf(gone);
    if (at !== -1) this.#idle.splice(at, 1);
    if (this.#isClosed) {
      this.#onEmpty();
      return;
    }
    if (wasReady) {
      this.#startMissing();
      return;
    }
    this.#failedStarts += 1;
    this.#options.log?.warn({ failed_starts: this.#failedStarts, cause }, 'a sandbox process did not start');
    if (this.#failedStarts >= patientStarts) this.#drain('The sandbox cannot be started');
    else this.#dispatch();
    this.#restart ??= setTimeout(
      () => {
        this.#restart = undefined;
        this.#startMissing();
      },
      Math.min(firstRestartMs * 2 ** (this.#failedStarts - 1), lastRestartMs),
    );
  }

  #drain(reason: string, outcome: RunOutcome = 'unavailable'): void {
    for (const { resolve } of this.#queue.drain()) resolve(refused(outcome, reason));
  }

  #onEmpty: () => void = () => undefined;

  #whenEmpty(): Promise<void> {
    if (this.#processes.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = () => {
        if (this.#processes.size === 0) resolve();
      };
    });
  }
}

function gaveWay({ whyItGaveWay: reason }: OngoingRun): RawResult | null {
  return reason === null ? null : refused('waiting_full', reason);
}
