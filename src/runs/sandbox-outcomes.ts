import type { RunOutcome } from '../sandbox/run.ts';

// Outcomes that a replay cannot repeat at the same place: the record ends where the run did.
const interruptions: ReadonlySet<string> = new Set<RunOutcome>([
  'crashed',
  'deadline',
  'forbidden_action',
  'queue_full',
  'rss_limit',
  'unavailable',
  'unresponsive',
  'waiting_full',
]);
const others = ['ok', 'no_handler', 'timeout', 'memory', 'never_settled', 'threw', 'invalid_actions', 'too_many_calls'];
const sandboxOutcomes: ReadonlySet<string> = new Set([
  ...interruptions,
  ...others,
  'too_many_actions',
  'output_too_large',
  'load_failed',
]);

/** Whether the outcome comes from the sandbox; others come from committing the run's actions. */
export function isOutcomeOfSandbox(outcome: string): boolean {
  return sandboxOutcomes.has(outcome);
}

/** Whether a run with this outcome may have been interrupted while it waited. */
export function isInterruption(outcome: string): boolean {
  return interruptions.has(outcome);
}

/** Outcomes of channels by another system that fails, or by what strangers write: they must not stop an inbox. */
export const broughtFromOutside: ReadonlySet<string> = new Set([
  'later',
  'threw',
  'deadline',
  'invalid_actions',
  'too_many_actions',
  'attachment_failed',
]);
