import type { Database } from '../postgres/database.ts';
import { isLockTimeout, isOutage, isRetryable } from '../postgres/errors.ts';
import type { Claimed } from '../deliveries/lanes/claim.ts';
import { finishAndGoOn, finishFreeDeliveries, type Finished } from '../deliveries/lanes/finish.ts';
import type { Lease } from '../deliveries/lanes/lease.ts';
import { renewalsPerLease } from './lease-renewal.ts';

/** The state of a lane after its result was written. */
export interface After {
  /** Whether it is due again; null when this process could not write the result. */
  isDue: boolean | null;
  /** Its next delivery, if it keeps its lease. */
  next: Claimed | null;
}

const unwritten: After = { isDue: null, next: null };

interface Waiting {
  finished: Finished;
  written: (after: After) => void;
  /** How often its lane was locked by another transaction. */
  lockedTries: number;
}

export interface FinishBatchOptions {
  database: Database;
  holdAttempts: number;
  leaseSeconds: number;
  failed: (error: unknown) => void;
}

/** So many results are written at once, … */
const enough = 96;
/** … together with those that came meanwhile. */
const maxBatch = 256;
// A process with little to write writes soon; a busy one gathers more.
const minWaitMs = 5;
const maxWaitMs = 20;
const few = 16;
const retryMs = 250;

/**
 * Collects results for a moment and writes them together: one statement serves up to 256 deliveries. A result that cannot
 * be written does not hold back the others.
 */
export class FinishBatch {
  readonly #options: FinishBatchOptions;
  #waiting: Waiting[] = [];
  // Results whose lanes are locked by other transactions.
  #locked: Waiting[] = [];
  #timer: NodeJS.Timeout | null = null;
  #writing = 0;
  #lastBatch = 0;
  #isAway = false;
  #lockedTimer: NodeJS.Timeout | null = null;

  constructor(options: FinishBatchOptions) {
    this.#options = options;
  }

  /** Resolves once the result is written, or can no longer be written. */
  add(finished: Finished): Promise<After> {
    const { promise, resolve } = Promise.withResolvers<After>();
    this.#waiting.push({ finished, written: resolve, lockedTries: 0 });
    if (this.#waiting.length >= enough && !this.#isAway) void this.#writeWaiting();
    else this.#schedule();
    return promise;
  }

  // While a result waits a timer is set, so that it is written even if no other result comes.
  #schedule(): void {
    if (this.#waiting.length === 0) return;
    const waitMs = this.#isAway ? retryMs : this.#writing > 0 || this.#lastBatch >= few ? maxWaitMs : minWaitMs;
    this.#timer ??= setTimeout(() => void this.#writeWaiting(), waitMs);
  }

  async #writeWaiting(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const batch = this.#waiting.splice(0, maxBatch);
    this.#lastBatch = batch.length;
    this.#schedule();
    await this.#write(batch);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 0) return;
    const { database, holdAttempts, leaseSeconds, failed } = this.#options;
    const results = batch.map(({ finished }) => finished);
    try {
      const sql = database.sql;
      this.#writing += 1;
      const untilRenewal = leaseSeconds / renewalsPerLease;
      const writing = results.some(({ goesOn }) => goesOn)
        ? finishAndGoOn(sql, results, { holdAttempts, leaseSeconds: untilRenewal })
        : finishFreeDeliveries(sql, results, holdAttempts);
      const written = await writing.finally(() => {
        this.#writing -= 1;
      });
      const lanes = new Map(written.map((lane) => [leaseKeyOf(lane), { next: null, ...lane }]));
      this.#isAway = false;
      for (const entry of batch) {
        const lane = lanes.get(leaseKeyOf(entry.finished));
        if (lane?.isReleased === false) this.#waitForLock(entry);
        else entry.written(lane ?? unwritten);
      }
    } catch (error) {
      if (isOutage(error) || isRetryable(error) || batch.length === 1) failed(error);
      await this.#tryAgain(batch, error);
    }
  }

  // After an outage or a conflict the batch is tried again. Any other error would repeat: the results are written one by
  // one, and the one that fails is dropped; its lease expires, and its attempt is stored as unknown.
  async #tryAgain(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (isOutage(error) || isRetryable(error)) {
      this.#waiting.unshift(...batch);
      this.#isAway = true;
      return this.#schedule();
    }
    if (batch.length > 1) {
      for (const entry of batch) await this.#write([entry]);
      return;
    }
    for (const entry of batch) {
      if (isLockTimeout(error)) this.#waitForLock(entry);
      else entry.written(unwritten);
    }
  }

  // Tries again until the lease has expired: it cannot be renewed either while the row is locked.
  #waitForLock(entry: Waiting): void {
    if (entry.lockedTries * retryMs >= this.#options.leaseSeconds * 1000) {
      this.#options.failed(
        new Error(`Lane ${entry.finished.laneId} stayed locked; what became of its attempt is lost`),
      );
      return entry.written(unwritten);
    }
    entry.lockedTries += 1;
    this.#locked.push(entry);
    if (this.#lockedTimer) return;
    this.#lockedTimer = setTimeout(() => {
      this.#lockedTimer = null;
      void this.#write(this.#locked.splice(0));
    }, retryMs);
  }
}

// A batch may hold a late result of a lane whose lease was lost, beside one under its present lease.
function leaseKeyOf({ laneId, token }: Lease): string {
  return `${laneId} ${token}`;
}
