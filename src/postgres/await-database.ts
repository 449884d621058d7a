import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError } from '../lib/operator-error.ts';
import { isOutage, refusedLogin } from './errors.ts';

const retryMs = 500;

export interface DatabaseWait {
  /** URL of the database; its password is told nobody. */
  url: string;
  timeoutMs: number;
  /** Told of each attempt that failed. */
  failed: (error: unknown) => void;
  /** True once nobody waits any more. */
  stopped: () => boolean;
}

/** Where a database is, without who logs in there. */
export function databasePlace(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Does the work as soon as the database lets it, again after each outage. Throws OperatorError when the database lets
 * nobody in, or has not answered within the time.
 */
export async function whenDatabaseAnswers<Result>(
  { url, timeoutMs, failed, stopped }: DatabaseWait,
  work: () => Promise<Result>,
): Promise<Result> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const place = databasePlace(url);
      if (refusedLogin(error)) {
        throw new OperatorError(`The database at ${place} refuses us: ${reasonOf(error)}. Check DATABASE_URL.`);
      }
      if (!isOutage(error) || stopped()) throw error;
      failed(error);
      if (performance.now() >= until) {
        throw new OperatorError(
          `The database at ${place} did not answer within ${timeoutMs / 1000} s: ${reasonOf(error)}. Check ` +
            'DATABASE_URL, or let the start wait longer with DATABASE_START_TIMEOUT_MS.',
        );
      }
      await wait(Math.min(retryMs, Math.max(0, until - performance.now())));
    }
  }
}
