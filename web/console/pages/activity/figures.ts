import type { Reply } from '../../../shared/call.ts';
import type { Series } from './chart.tsx';

export type Report = Reply<'GET reports/activity'>;
type Entry = Report['payload'][number];

/** A report with an entry for each of its hours or days: those in which nothing happened are in no answer. */
interface Filled {
  times: readonly number[];
  /** A line of the figure that `of` picks; `none` where nothing happened. */
  line: (title: string, of: (entry: Entry) => number | null, none?: number | null) => Series;
  /** The reasons of handoffs that there are. */
  reasons: readonly string[];
}

const seconds = { hour: 3_600, day: 86_400 } as const;

/** Fills the gaps of a report. */
export function fill({ payload, meta }: Report): Filled {
  const step = seconds[meta.by];
  const times = Array.from(
    { length: Math.round((meta.until - meta.since) / step) },
    (_, index) => meta.since + index * step,
  );
  const entries = new Map(payload.map((entry) => [entry.at, entry]));
  return {
    times,
    line: (title, of, none = 0) => ({
      title,
      values: times.map((at) => {
        const entry = entries.get(at);
        return entry ? of(entry) : none;
      }),
    }),
    reasons: [...new Set(payload.flatMap(({ handoffs }) => Object.keys(handoffs)))].toSorted(),
  };
}
