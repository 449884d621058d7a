/** How often a run is tried, when what went wrong says little of its bot. */
const maxTransientAttempts = 3;
/** Milliseconds until such a run is tried again. */
export const transientDelayMs = 1000;

// Not the bot's fault, or not surely: worth another try before a person is called.
const transientOutcomes: ReadonlySet<string> = new Set(['crashed', 'queue_full']);
// Says nothing about the bot: a full service, or a customer who made it talk too much.
const blamelessOutcomes: ReadonlySet<string> = new Set(['queue_full', 'loop_suspected']);

/**
 * What follows a run: its effects are committed, it is tried again, or people get the conversation. Pure. `failures`:
 * attempts of its delivery that ended with a result before.
 */
export function afterRun(outcome: string, failures: number): 'commit' | 'retry' | 'give up' {
  if (outcome === 'ok' || outcome === 'no_handler') return 'commit';
  return transientOutcomes.has(outcome) && failures + 1 < maxTransientAttempts ? 'retry' : 'give up';
}

/** Whether a run that ended so counts among the failures that bring its bot into quarantine. Pure. */
export function isBlamed(outcome: string): boolean {
  return !blamelessOutcomes.has(outcome);
}
