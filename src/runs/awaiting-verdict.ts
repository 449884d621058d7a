import { retrySchedule } from '../deliveries/core/retry.ts';
import type { RunVerdict } from './bot-runner.ts';
import type { IncomingFiles } from './incoming-files.ts';

/** A delivery: how often it failed, and whether it is made once more, in a lane of its own. */
interface Tried {
  failures: number;
  isRepeated: boolean;
}

/**
 * Returns how the delivery of a request goes on whose messages are stored, but await files. A customer does not send a file again:
 * it is tried for as long as a message that is to be sent. What the customer writes next does not wait for it.
 */
export function awaitingVerdict(
  { awaited, known, trouble }: IncomingFiles,
  { failures, isRepeated }: Tried,
): Omit<RunVerdict, 'durationMs'> {
  const delayMs = retrySchedule.channel[failures] ?? 0;
  const isNew = !isRepeated && [...awaited.keys()].some(({ external_id: id }) => !known.has(id));
  if (isNew) return { state: 'delivered', delayMs: 0, errorCode: null, againAfterMs: delayMs };
  return { state: 'pending', delayMs, errorCode: 'attachment_unavailable', detail: trouble ?? '' };
}
