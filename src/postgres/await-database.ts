import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError } from '../lib/operator-error.ts';
import { isFatal, isOutage, isPassing, isReadOnly, isStartupRefusal } from './errors.ts';

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

/** The message of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A sentence if the server refused the connection, so that another attempt is useless; null for any other error. */
export function refusalOf(error: unknown, place: string): string | null {
  if (isStartupRefusal(error)) {
    return (
      `The server at ${place} refuses a parameter of our connections, as poolers do: ${reasonOf(error)}. Connect to PostgreSQL ` +
      'directly; docs/operating.md has more about poolers.'
    );
  }
  if (!isFatal(error) || isOutage(error)) return null;
  return `The database at ${place} refuses us: ${reasonOf(error)}. Check DATABASE_URL.`;
}

/**
 * Calls `work`, and calls it again as long as it fails because the database is not reachable, or because other processes hold
 * locks in it. Throws OperatorError if the database refuses the connection, or if `work` still fails after `timeoutMs`.
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
      const refusal = refusalOf(error, place);
      if (refusal !== null) throw new OperatorError(refusal);
      if (!isPassing(error) || stopped()) throw error;
      failed(error);
      if (performance.now() >= until) throw new OperatorError(lastWord(error, place, timeoutMs / 1000));
      await wait(Math.min(retryMs, Math.max(0, until - performance.now())));
    }
  }
}

function lastWord(error: unknown, place: string, seconds: number): string {
  const remedy = 'or let the start wait longer with DATABASE_START_TIMEOUT_MS.';
  if (isReadOnly(error)) {
    return (
      `The database at ${place} is read-only: it is a standby, or its ` +
      'default_transaction_read_only is on. DATABASE_URL must name the primary.'
    );
  }
  if (!isOutage(error)) {
    return (
      `Other processes have held locks in the database at ${place} for ${seconds} s: another start, or long transactions. ` +
      `End them, ${remedy}`
    );
  }
  const within = seconds > 0 ? ` within ${seconds} s` : '';
  return `The database at ${place} did not answer${within}: ${reasonOf(error)}. Check DATABASE_URL, ${remedy}`;
}
