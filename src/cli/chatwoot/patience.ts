import { setTimeout as pause } from 'node:timers/promises';
import { OperatorError } from '../../lib/operator-error.ts';
import type { OutboundResult } from '../../outbound/http.ts';

/** What a person who reads of an early end should know. */
export const goesOn = 'What was copied is kept: the same command goes on there.';

const throttled = 429;
// Theirs counts requests for a minute, and does not say when it begins anew.
const [longestPauseMs, throttledPauses] = [120_000, 20];

/** Ends the import where it was told to stop: calls that were cut off then have answers, which are none. Errors: OperatorError. */
export function endIfStopped(stopped: AbortSignal): void {
  if (stopped.aborted) throw new OperatorError(`Stopped. ${goesOn}`);
}

/** Waits before a request is made again, the longer the more often it was made, and as long as the answer asks. */
export async function waitAfter(
  { status, headers }: Pick<OutboundResult, 'status' | 'headers'>,
  tries: number,
  { pauseMs, stopped }: { pauseMs: number; stopped: AbortSignal },
): Promise<void> {
  const [asked = '0'] = /^\d+$/.exec(headers['retry-after'] ?? '') ?? [];
  const own = pauseMs * Math.max(2 ** (tries - 1), status === throttled ? throttledPauses : 0);
  const ms = Math.min(longestPauseMs, Math.max(own, Number(asked) * 1000));
  await pause(ms, null, { signal: stopped }).catch(() => null);
}
