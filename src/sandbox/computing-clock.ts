import { readdirSync, readFileSync } from 'node:fs';

/** Shorter times count whole: the system counts processor time in steps of 10 ms. */
const negligibleMs = 20;
/** A process whose threads all sleep at this many looks in a row waits for no processor. */
const sleepingLooks = 25;
// USER_HZ, which is the same on every Linux that Node runs on.
const ticksPerSecond = 100;
// Runnable, or waiting for memory that has to come from a disk.
const wantingStates = new Set(['R', 'D']);

/**
 * Measures a part of a process's work: the time that passes, and the processor time that all its threads use in it. A busy
 * machine prolongs only the first. Where the system has no /proc, all time counts as processor time.
 */
export class ComputingClock {
  readonly #pid: number | undefined;
  readonly #beganAt = performance.now();
  readonly #usedBefore: number | null;
  #sleeping = 0;

  constructor(pid: number | undefined) {
    this.#pid = pid;
    this.#usedBefore = processorMs(pid);
  }

  get passedMs(): number {
    return performance.now() - this.#beganAt;
  }

  /** Milliseconds of processor time; never more than have passed. */
  get computedMs(): number {
    const { passedMs } = this;
    const used = passedMs > negligibleMs && this.#usedBefore !== null ? processorMs(this.#pid) : null;
    return used === null || this.#usedBefore === null ? passedMs : Math.min(passedMs, used - this.#usedBefore);
  }

  /** Milliseconds for which the process was kept from computing, or did not want to. */
  get stalledMs(): number {
    return this.passedMs - this.computedMs;
  }

  /** Whether the process has slept at this look and at the ones before: it hangs, however busy the machine is. */
  looksHung(): boolean {
    this.#sleeping = wantsProcessor(this.#pid) ? 0 : this.#sleeping + 1;
    return this.#sleeping >= sleepingLooks;
  }
}

/** Processor time of a process in milliseconds; null when the process is gone or the system has no /proc. */
function processorMs(pid: number | undefined): number | null {
  const [, ...fields] = statOf(`/proc/${pid}/stat`);
  const [user, system] = fields.slice(10, 12).map(Number);
  return user === undefined || system === undefined ? null : ((user + system) * 1000) / ticksPerSecond;
}

function wantsProcessor(pid: number | undefined): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.some((thread) => wantingStates.has(statOf(`/proc/${pid}/task/${thread}/stat`)[0] ?? ''));
  } catch {
    return false;
  }
}

/** The fields from the state on; none when the file is gone. The name before them may contain anything. */
function statOf(file: string): string[] {
  try {
    const text = readFileSync(file, 'latin1');
    return text.slice(text.lastIndexOf(') ') + 2).split(' ');
  } catch {
    return [];
  }
}
