import { setTimeout as pause } from 'node:timers/promises';
import { OperatorError } from '../../lib/operator-error.ts';
import type { OutboundResult } from '../../outbound/http.ts';

/** Hint for the operator when an import ends early. */
export const goesOn = 'What was copied is kept: the same command goes on there.';

const throttled = 429;
// Chatwoot counts requests per minute, and does not return when the minute ends.
const [longestPauseMs, throttledPauses] = [120_000, 20];

/** Throws OperatorError once the import is stopped: requests that were cut off return results that are no answers. */
export function endIfStopped(stopped: AbortSignal): void {
  if (stopped.aborted) throw new OperatorError(`Stopped. ${goesOn}`);
}

/** Waits before a retry, longer with each try or as long as the answer demands, but at most 120 s. */
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
