import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError } from '../lib/operator-error.ts';
import { isOutage, refusedLogin } from './errors.ts';

const retryMs = 500;

export interface DatabaseWait {
  /** URL of the database; no message contains its password. */
  url: string;
  timeoutMs: number;
  /** Called with the error of each failed attempt. */
  failed: (error: unknown) => void;
  /** True once the start was cancelled. */
  stopped: () => boolean;
}

/** Host and name of a database, without user and password. */
export function databasePlace(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Calls `work`, and calls it again as long as it fails because the database is not reachable. Throws OperatorError if
 * the database refuses the login, or is still not reachable after `timeoutMs`.
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
