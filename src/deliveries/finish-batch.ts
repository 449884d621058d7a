import type { Database } from '../postgres/database.ts';
import { isLockTimeout, isOutage, isRetryable } from '../postgres/errors.ts';
import { finishFreeDeliveries, type Finished } from './queue/finish.ts';

interface Waiting {
  finished: Finished;
  written: () => void;
  /** How often its lane was found locked. */
  lockedTries: number;
}

export interface FinishBatchOptions {
  database: Database;
  holdAttempts: number;
  leaseSeconds: number;
  failed: (error: unknown) => void;
}

const maxBatch = 50;
const maxWaitMs = 20;
const retryMs = 250;

/**
 * Gathers ended attempts for a moment and writes them together: one statement serves fifty deliveries. One that cannot be
 * written does not keep back the others.
 */
export class FinishBatch {
  readonly #options: FinishBatchOptions;
  #waiting: Waiting[] = [];
  // Results whose lanes somebody else had locked.
  #locked: Waiting[] = [];
  #timer: NodeJS.Timeout | null = null;
  // How long results wait for the next write: longer while the database is away.
  #waitMs = maxWaitMs;
  #lockedTimer: NodeJS.Timeout | null = null;

  constructor(options: FinishBatchOptions) {
    this.#options = options;
  }

  /** Resolves once the result is written, or is not ours to write any more. */
  add(finished: Finished): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ finished, written: resolve, lockedTries: 0 });
    if (this.#waiting.length >= maxBatch && this.#waitMs === maxWaitMs) void this.#writeWaiting();
    else this.#schedule();
    return promise;
  }

  // While any result waits there is a timer: no further result need come for it to be written.
  #schedule(): void {
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => void this.#writeWaiting(), this.#waitMs);
  }

  async #writeWaiting(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const batch = this.#waiting.splice(0, maxBatch);
    this.#schedule();
    await this.#write(batch);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 0) return;
    const { database, holdAttempts, failed } = this.#options;
    const results = batch.map(({ finished }) => finished);
    try {
      const em = database.em();
      const skipped = new Set(await em.transactional((inner) => finishFreeDeliveries(inner, results, holdAttempts)));
      this.#waitMs = maxWaitMs;
      for (const entry of batch) {
        if (skipped.has(entry.finished)) this.#waitForLock(entry);
        else entry.written();
      }
    } catch (error) {
      if (isOutage(error) || isRetryable(error) || batch.length === 1) failed(error);
      await this.#tryAgain(batch, error);
    }
  }

  // A result that cannot be written for another reason than an outage never will be: its lease runs out, and its attempt
  // is kept as unknown. Which of them it is shows when each is written alone.
  async #tryAgain(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (isOutage(error) || isRetryable(error)) {
      this.#waiting.unshift(...batch);
      this.#waitMs = retryMs;
      return this.#schedule();
    }
    if (batch.length > 1) {
      for (const entry of batch) await this.#write([entry]);
      return;
    }
    for (const entry of batch) {
      if (isLockTimeout(error)) this.#waitForLock(entry);
      else entry.written();
    }
  }

  // For as long as its lease lasts; the lease cannot be renewed either while the row is locked.
  #waitForLock(entry: Waiting): void {
    if (entry.lockedTries * retryMs >= this.#options.leaseSeconds * 1000) {
      this.#options.failed(
        new Error(`Lane ${entry.finished.laneId} stayed locked; what became of its attempt is lost`),
      );
      return entry.written();
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
