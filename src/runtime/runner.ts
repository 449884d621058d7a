import { judgeActions } from './action-batch.ts';
import { hidePaths, startSandboxProcess } from './child-process.ts';
import type { SandboxProcess } from './child-process.ts';
import { viewEvent } from './event-view.ts';
import { runBounds } from './run-types.ts';
import type { HostCall, RunOutcome, RunRequest, RunResult, Runner } from './run-types.ts';
import { RunnerProcess } from './runner-process.ts';
import type { RawResult } from './runner-process.ts';

export type * from './run-types.ts';
export { defaultLimits } from './run-types.ts';

/** Where a runner reports what operators should know; a pino logger fits. */
export interface RunnerLog {
  warn(fields: object, message: string): void;
}

/** `size` children work side by side; `queueLimit` runs may wait; a child above `maxRssMb` MiB is killed. */
export interface RunnerOptions {
  size: number;
  queueLimit: number;
  maxRssMb: number;
  /** What bots may call while they run; nothing unless given. */
  hostCalls?: Readonly<Record<string, HostCall>>;
  log?: RunnerLog;
  /** How a child is started; the sandbox unless a test says otherwise. */
  start?: (maxRssMb: number) => SandboxProcess;
}

interface QueuedRun {
  request: RunRequest;
  input: string;
  resolve: (result: RawResult) => void;
}

const firstRestartMs = 100;
const lastRestartMs = 5_000;
/** So many failed starts in a row, and runs no longer wait for the next. */
const patientStarts = 3;

function refused(outcome: RunOutcome, error: string): RawResult {
  return { outcome, actions: [], logs: [], error, wallMs: 0 };
}

/** The JSON that the isolate's `start` reads. */
function inputOf(request: RunRequest): string {
  const { bundle, event, handler, config, seed, now, permissions } = request;
  const run = `${bundle.hash.slice(0, 12)}-${seed}`;
  return JSON.stringify({ event: viewEvent(event, permissions), handler, config, seed, now, run, bounds: runBounds });
}

function toResult(raw: RawResult, request: RunRequest): RunResult {
  const verdict = raw.outcome === 'ok' ? judgeActions(raw.actions, request.permissions) : raw;
  const { outcome, error } = 'outcome' in verdict ? verdict : { outcome: 'ok' as const, error: undefined };
  return {
    outcome,
    actions: 'outcome' in verdict ? [] : verdict.actions,
    logs: raw.logs,
    wallMs: raw.wallMs,
    ...(error === undefined ? {} : { error: hidePaths(error, runBounds.errorChars) }),
    ...(raw.handlers ? { handlers: raw.handlers } : {}),
  };
}

class RunnerPool implements Runner {
  readonly #options: RunnerOptions;
  readonly #processes = new Set<RunnerProcess>();
  readonly #idle: RunnerProcess[] = [];
  readonly #queue: QueuedRun[] = [];
  readonly #restarts = new Set<NodeJS.Timeout>();
  #failedStarts = 0;
  #isClosed = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
    for (let count = 0; count < options.size; count += 1) this.#startProcess();
  }

  get queued(): number {
    return this.#queue.length;
  }

  async run(request: RunRequest): Promise<RunResult> {
    return toResult(await this.#enqueue(request), request);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    this.#drain('The runner was closed');
    for (const process of this.#processes) process.kill('crashed', 'The runner was closed');
    return this.#whenEmpty();
  }

  #enqueue(request: RunRequest): Promise<RawResult> | RawResult {
    if (this.#isClosed) return refused('crashed', 'The runner is closed');
    if (request.bundle.code.length > runBounds.bundleChars) return refused('load_failed', 'The bundle is too large');
    const input = inputOf(request);
    if (input.length > runBounds.inputChars) return refused('load_failed', 'The event is too large');
    if (this.#idle.length === 0 && this.#queue.length >= this.#options.queueLimit) {
      return refused('queue_full', `${this.#queue.length} runs are waiting already`);
    }
    const { promise, resolve } = Promise.withResolvers<RawResult>();
    this.#queue.push({ request, input, resolve });
    this.#dispatch();
    return promise;
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const process = this.#idle.shift();
      if (!process) return;
      if (!process.isUsable) continue;
      const next = this.#queue.shift();
      if (next) void process.run(next.request, next.input).then(next.resolve);
    }
  }

  #startProcess(): void {
    const { start = startSandboxProcess, maxRssMb, hostCalls = {} } = this.#options;
    const process = new RunnerProcess(
      { start, maxRssMb, hostCalls },
      {
        onIdle: (idle) => {
          this.#failedStarts = 0;
          this.#idle.push(idle);
          this.#dispatch();
        },
        onExit: (gone, wasReady, cause) => this.#replace(gone, wasReady, cause),
      },
    );
    this.#processes.add(process);
  }

  #replace(gone: RunnerProcess, wasReady: boolean, cause: string): void {
    this.#processes.delete(gone);
    const at = this.#idle.indexOf(gone);
    if (at !== -1) this.#idle.splice(at, 1);
    if (this.#isClosed) {
      this.#onEmpty();
      return;
    }
    if (wasReady) {
      this.#startProcess();
      return;
    }
    this.#failedStarts += 1;
    this.#options.log?.warn({ failed_starts: this.#failedStarts, cause }, 'a sandbox process did not start');
    if (this.#failedStarts >= patientStarts) this.#drain('The sandbox cannot be started');
    this.#restartLater();
  }

  #restartLater(): void {
    const delay = Math.min(firstRestartMs * 2 ** (this.#failedStarts - 1), lastRestartMs);
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      this.#startProcess();
    }, delay);
    this.#restarts.add(timer);
  }

  #drain(reason: string): void {
    for (const { resolve } of this.#queue.splice(0)) resolve(refused('crashed', reason));
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

/** Starts a runner and its children. A child that dies is replaced; one that keeps failing to start is tried less and less often. */
export function createRunner(options: RunnerOptions): Runner {
  return new RunnerPool(options);
}
