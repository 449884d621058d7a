import { InvalidArgumentError } from 'commander';
import { systemClock } from '../../../lib/ports.ts';

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
const isoDate = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/** Reads `1h`, `7d` or a moment in ISO 8601, as Unix seconds. Throws InvalidArgumentError. */
export function parseSince(text: string, now = systemClock.now().getTime()): number {
  const [, amount, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  if (amount !== undefined) return Math.max(0, Math.floor(now / 1000) - Number(amount) * (seconds[unit] ?? 0));
  const moment = isoDate.test(text) ? Date.parse(text) : NaN;
  if (moment >= 0) return Math.floor(moment / 1000);
  throw new InvalidArgumentError('It must be a time ago, such as 1h or 7d, or a moment, such as 2026-11-22T09:30:00Z.');
}

/** Reads a number from 1 to `most`. Throws InvalidArgumentError. */
export function parseCount(most: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= 1 && count <= most) return count;
    throw new InvalidArgumentError(`It must be a number from 1 to ${most}.`);
  };
}
