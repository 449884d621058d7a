import { useEffect, useState } from 'preact/hooks';

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' });
const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const renewMs = 30_000;

/** A moment in Unix seconds, as how long ago it was; the exact time is its title. Null is a dash. */
export function Time({ at }: { at: number | null }) {
  const [, redraw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => redraw((count) => count + 1), renewMs);
    return () => clearInterval(timer);
  }, []);
  if (at === null) return <>–</>;
  const moment = new Date(at * 1000);
  return (
    <time dateTime={moment.toISOString()} title={exact.format(moment)}>
      {ago(at - Date.now() / 1000)}
    </time>
  );
}

function ago(seconds: number): string {
  const [unit, length] = units.find(([, one]) => Math.abs(seconds) >= one) ?? ['second', 1];
  if (unit === 'second' && seconds > -10 && seconds <= 0) return 'just now';
  return relative.format(Math.round(seconds / length), unit);
}
