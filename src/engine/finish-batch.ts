import type { Database } from '../database.ts';
import { isOutage, isRetryable } from '../lib/sql-errors.ts';
import { finishDeliveries, type Finished } from './finish.ts';

interface Waiting {
  finished: Finished;
  written: () => void;
}

const maxBatch = 50;
const maxWaitMs = 20;
const retryMs = 250;

/** Gathers ended attempts for a moment and writes them together: one statement serves fifty deliveries. */
export class FinishBatch {
  readonly #database: Database;
  readonly #holdAttempts: number;
  readonly #failed: (error: unknown) => void;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(options: { database: Database; holdAttempts: number; failed: (error: unknown) => void }) {
    this.#database = options.database;
    this.#holdAttempts = options.holdAttempts;
    this.#failed = options.failed;
  }

  /** Resolves once the result is written, or is not ours to write any more. */
  add(finished: Finished): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ finished, written: resolve });
    if (this.#waiting.length >= maxBatch) void this.#write();
    else this.#timer ??= setTimeout(() => void this.#write(), maxWaitMs);
    return promise;
  }

  async #write(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const batch = this.#waiting.splice(0, maxBatch);
    if (batch.length === 0) return;
    try {
      const results = batch.map(({ finished }) => finished);
      await this.#database.em().transactional((em) => finishDeliveries(em, results, this.#holdAttempts));
      for (const { written } of batch) written();
    } catch (error) {
      this.#failed(error);
      this.#tryAgain(batch, error);
    }
  }

  // What cannot be written for another reason than an outage never will be; the lease runs out, and the attempt is
  // recorded as unknown.
  #tryAgain(batch: Waiting[], error: unknown): void {
    if (!isOutage(error) && !isRetryable(error)) {
      for (const { written } of batch) written();
      return;
    }
    this.#waiting.unshift(...batch);
    this.#timer ??= setTimeout(() => void this.#write(), retryMs);
  }
}
