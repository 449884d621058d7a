import type { FetchAnswer } from 'switchboard/bot';

/** An error of the Cloud API, in answers and in statuses. */
export interface ApiError {
  code?: number;
  title?: string;
  message?: string;
  error_data?: { details?: string };
}

/** Why a request failed, and what follows. */
export type Trouble =
  | { kind: 'token' | 'refused'; reason: string }
  | { kind: 'later'; reason: string; seconds: number };

const tokenCodes = new Set([0, 3, 10, 190]);
/** Rate limits of the app, the account, the number and the pair of numbers, and faults of Meta. */
const passing = new Set([1, 2, 4, 80_007, 130_429, 131_000, 131_016, 131_048, 131_056, 133_004]);
const windowClosed = 131_047;
/** A pair of numbers may exchange a message every six seconds. */
const pairSeconds = 6;
const usualSeconds = 5;

/** Returns what is wrong with an answer; null for a good one. */
export function troubleOf(
  { status, headers }: Pick<FetchAnswer, 'status' | 'headers'>,
  error: ApiError | undefined,
): Trouble | null {
  if (status < 300 && !error) return null;
  const reason = reasonOf(error, `WhatsApp answered ${status}`);
  const code = error?.code ?? -1;
  const isOfToken = status === 401 || tokenCodes.has(code) || (code >= 200 && code < 300);
  if (isOfToken) return { kind: 'token', reason };
  const passes = status === 429 || status >= 500 || passing.has(code);
  return passes ? { kind: 'later', reason, seconds: waitOf(headers, code) } : { kind: 'refused', reason };
}

function waitOf(headers: FetchAnswer['headers'], code: number): number {
  const wait = Number(headers['retry-after']);
  if (Number.isInteger(wait) && wait > 0 && wait <= 86_400) return wait;
  return code === 131_056 ? pairSeconds : usualSeconds;
}

/** Returns the reason of a failure for agents. */
export function reasonOf(error: ApiError = {}, otherwise = 'WhatsApp gave no reason'): string {
  const { code, title, message = title, error_data: data } = error;
  if (code === windowClosed)
    return 'More than 24 hours have passed since the customer wrote: only a template can be sent (131047)';
  const words = (data?.details ?? message ?? otherwise).slice(0, 900);
  return code === undefined || words.includes(String(code)) ? words : `${words} (${code})`;
}
