// The usual constant: the first places of a list do not outweigh being in both.
const smoothing = 60;

/**
 * Merges lists of ids, each best first, by reciprocal rank: ids in several lists come before ids in one. Among equal ids those
 * of an earlier list come first.
 */
export function fuse(lists: readonly (readonly number[])[]): number[] {
  const scores = new Map<number, number>();
  for (const list of lists) {
    list.forEach((id, rank) => scores.set(id, (scores.get(id) ?? 0) + 1 / (smoothing + rank + 1)));
  }
  return [...scores].sort(([, one], [, other]) => other - one).map(([id]) => id);
}
