import type { LiveEvent } from '../../../shared/live.ts';

/** Visible events of a stream, newest first, and events held back during a pause. */
export interface Tail {
  shown: readonly LiveEvent[];
  /** Events received during a pause, newest first; null without one. */
  waiting: readonly LiveEvent[] | null;
  /** How many that waited were too many to be kept. */
  dropped: number;
  /** Whether the stream was cut for so long that some events cannot be told any more. */
  hasMissed: boolean;
}

/** Events that are shown, and those that are kept during a pause: the page stays quick, whatever happens. */
export const mostShown = 200;
const mostWaiting = 1_000;

export const emptyTail: Tail = { shown: [], waiting: null, dropped: 0, hasMissed: false };

/** The tail after more events, which come in their order. */
export function hear(tail: Tail, events: readonly LiveEvent[]): Tail {
  const { shown, waiting, dropped } = tail;
  const newest = events.toReversed();
  if (waiting === null) return { ...tail, shown: [...newest, ...shown].slice(0, mostShown) };
  const all = [...newest, ...waiting];
  return { ...tail, waiting: all.slice(0, mostWaiting), dropped: dropped + Math.max(0, all.length - mostWaiting) };
}

/** From now on events wait. */
export function pause(tail: Tail): Tail {
  return { ...tail, waiting: tail.waiting ?? [] };
}

/** Shows what has waited, and what comes. */
export function resume(tail: Tail): Tail {
  const { shown, waiting } = tail;
  return { ...tail, shown: [...(waiting ?? []), ...shown].slice(0, mostShown), waiting: null, dropped: 0 };
}
