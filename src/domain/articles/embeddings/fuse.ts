// The usual constant: the first places of a list do not outweigh being in both.
const smoothing = 60;

/**
 * Puts lists of ids together, each best first, by reciprocal rank: what several lists have comes before what one of them has.
 * Of equals, what an earlier list has comes first.
 */
export function fuse(lists: readonly (readonly number[])[]): number[] {
  const scores = new Map<number, number>();
  for (const list of lists) {
    list.forEach((id, rank) => scores.set(id, (scores.get(id) ?? 0) + 1 / (smoothing + rank + 1)));
  }
  return [...scores].sort(([, one], [, other]) => other - one).map(([id]) => id);
}
