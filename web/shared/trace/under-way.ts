/** Parts of a trace that may still be in progress. */
interface UnderWay {
  decision: { reason: string | null } | null;
  deliveries: readonly { state: string; next_attempt_at: number | null; attempts: readonly unknown[] }[];
}

/** Moments are whole seconds, and an attempt takes its time. */
const graceMs = 1_000;

/** After which time something is to be expected that is no event, an attempt or the call of a bot; null where nothing is under way. */
export function dueInMs(entries: readonly UnderWay[], now: number): number | null {
  const due = entries.flatMap(({ decision, deliveries }) => [
    ...(decision?.reason === 'waiting' ? [0] : []),
    ...deliveries
      .filter(({ state }) => state === 'pending' || state === 'failing')
      .map(({ next_attempt_at: next }) => (next === null ? 0 : Math.max(0, next * 1000 + graceMs - now))),
  ]);
  return due.length === 0 ? null : Math.min(...due);
}

/** Fingerprint of a trace: it changes when something happens. */
export function lookOf(entries: readonly UnderWay[]): string {
  const seen = entries.map(({ decision, deliveries }) => [
    decision?.reason,
    deliveries.map(({ state, attempts }) => [state, attempts.length]),
  ]);
  return JSON.stringify(seen);
}
