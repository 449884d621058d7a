/** Each size is this many times the one before. */
const factor = 4;
/** A linear cost grows 4 times from one size to the next; one that grows with the square of the size, 16 times. */
const linearAtMost = 8;
/** A busy neighbour on the processor disturbs some milliseconds in a row: several measurements of a fast reader. */
const rounds = 20;
/** Microseconds below which work is repeated until the sum is longer: the clock's own errors are a few. */
const measurable = 100;
/** Microseconds that harm nobody: pages of fresh memory alone can take some, reading with the square of a size takes 100 ms. */
const harmless = 5_000;

/**
 * Whether the computing time of the work grows in proportion to its size, up to `size`: compares the thread's time at a
 * sixteenth, a quarter and all of it. The least of several measurements counts, and both steps must grow too much: the
 * collection of garbage begins at some size, which is a step by itself, but only one. What is harmless at its largest size
 * passes however it grows.
 */
export function isLinear(work: (size: number) => () => unknown, size: number): boolean {
  const at = (share: number) => leastOf(work(Math.ceil(size / share)));
  const [sixteenth, quarter, whole] = [at(factor ** 2), at(factor), at(1)];
  for (let round = 0; round < rounds; round++)
    if (whole() <= harmless || whole() <= linearAtMost * quarter() || whole() <= linearAtMost ** 2 * sixteenth())
      return true;
  return false;
}

/** Measures once more at each call, and returns the least of all measurements. */
function leastOf(work: () => unknown): () => number {
  let least = Infinity;
  return () => (least = Math.min(least, costOf(work)));
}

function costOf(work: () => unknown): number {
  for (let times = 1; ; times *= factor) {
    const before = process.threadCpuUsage();
    for (let left = times; left > 0; left--) work();
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= measurable) return (user + system) / times;
  }
}
