/** When people are there: from `opens` to `closes`, in hours, on these days (0 is Sunday). */
export interface Hours {
  timezone: string;
  days: number[];
  opens: number;
  closes: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const hourMs = 60 * minuteMs;

export function isOpen({ timezone, days, opens, closes }: Hours, now: Date): boolean {
  const local = localTime(now, timezone);
  const hour = (local % dayMs) / hourMs;
  return days.includes(weekdayOf(local)) && hour >= opens && hour < closes;
}

/** The next time that people begin; null when they never do. */
export function nextOpening({ timezone, days, opens, closes }: Hours, now: Date): Date | null {
  if (opens >= closes) return null;
  const local = localTime(now, timezone);
  const today = local - (local % dayMs);
  for (let day = 0; day <= 7; day += 1) {
    const opening = today + day * dayMs + opens * hourMs;
    if (opening > local && days.includes(weekdayOf(opening))) return instantOf(opening, timezone);
  }
  return null;
}

/** Returns the clock time in the time zone, as milliseconds that read the same in UTC. */
function localTime(moment: Date, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  const parts = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
}

// The offset there may be another one then than now: when clocks change in between.
function instantOf(local: number, timezone: string): Date {
  const guess = new Date(local);
  const first = new Date(local - (localTime(guess, timezone) - local));
  return new Date(first.getTime() + (local - localTime(first, timezone)));
}

function weekdayOf(local: number): number {
  return new Date(local).getUTCDay();
}
