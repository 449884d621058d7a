import type { Deed } from './deeds.tsx';

/** Something that was wanted in both runs, or in one of them only. */
export interface Line {
  side: 'both' | 'recorded' | 'replayed';
  deed: Deed;
}

/** Returns the actions of two runs side by side, aligned by a longest common subsequence. */
export function compare(recorded: readonly Deed[], replayed: readonly Deed[]): Line[] {
  const [before, after] = [textsOf(recorded), textsOf(replayed)];
  const sideAt = sidesOf(before, after);
  const lines: Line[] = [];
  let [at, to] = [0, 0];
  while (at < before.length || to < after.length) {
    const side = sideAt(at, to);
    const deed = side === 'replayed' ? replayed[to] : recorded[at];
    lines.push({ side, deed: deed ?? {} });
    if (side !== 'replayed') at += 1;
    if (side !== 'recorded') to += 1;
  }
  return lines;
}

function textsOf(deeds: readonly Deed[]): string[] {
  return deeds.map((deed) => JSON.stringify(sorted(deed)));
}

// Where the next line comes from.
function sidesOf(before: readonly string[], after: readonly string[]): (at: number, to: number) => Line['side'] {
  const lengths = lengthsOf(before, after);
  return (at, to) => {
    if (at === before.length) return 'replayed';
    if (to === after.length) return 'recorded';
    if (before[at] === after[to]) return 'both';
    return (lengths[at + 1]?.[to] ?? 0) >= (lengths[at]?.[to + 1] ?? 0) ? 'recorded' : 'replayed';
  };
}

// lengths[i][j]: how much the two have in common from i and j on. Runs want 20 things at most.
function lengthsOf(before: readonly string[], after: readonly string[]): number[][] {
  const lengths = Array.from({ length: before.length + 1 }, () => Array.from({ length: after.length + 1 }, () => 0));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const row = lengths[i] ?? [];
      const below = lengths[i + 1] ?? [];
      row[j] = before[i] === after[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}

// The order of a record's fields says nothing.
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, part]) => [name, sorted(part)]),
  );
}
