/** Attempts of a run with a transient outcome. */
const maxTransientAttempts = 3;
/** Milliseconds until a run with a transient outcome is tried again. */
export const transientDelayMs = 1000;

// Perhaps not the bot's fault: worth another attempt before people get the conversation.
const transientOutcomes: ReadonlySet<string> = new Set([
  'crashed',
  'unavailable',
  'queue_full',
  'attachment_unavailable',
]);
// Not the bot's fault: a full queue, full memory, a busy machine, a host of a file that does not answer, or a customer who made
// it send too many messages.
const blamelessOutcomes: ReadonlySet<string> = new Set([
  'queue_full',
  'waiting_full',
  'unavailable',
  'attachment_unavailable',
  'loop_suspected',
]);

/**
 * Decides what follows a run: its effects are committed, it is tried again, or people get the conversation. Pure.
 * `failures` are earlier attempts of the delivery that ended with a result.
 */
export function afterRun(outcome: string, failures: number): 'commit' | 'retry' | 'give up' {
  if (outcome === 'ok' || outcome === 'no_handler') return 'commit';
  return transientOutcomes.has(outcome) && failures + 1 < maxTransientAttempts ? 'retry' : 'give up';
}

/** Whether a run with this outcome counts towards the bot's quarantine. Pure. */
export function isBlamed(outcome: string): boolean {
  return !blamelessOutcomes.has(outcome);
}
