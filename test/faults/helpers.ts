import { rowsOf } from '../support/kept-client.ts';
import { patience } from '../support/patience.ts';
import { pauseAfter } from '../support/polling.ts';

export { rowsOf };

/** A sequence of numbers in [0, 1), determined by the seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of this run, printed so that a failure can be repeated: FAULT_SEED=… */
export function tellSeed(): number {
  const seed = Number(process.env['FAULT_SEED'] ?? Date.now() % 1_000_000_007);
  console.log(`      FAULT_SEED=${seed}`);
  return seed;
}

/** Repeats `probe` until it is truthy; fails with the text of `describe`. */
export async function eventually<Value>(
  probe: () => Promise<Value | false> | Value | false,
  timeoutMs = 60_000,
  describe: () => Promise<string> | string = () => 'it did not happen',
): Promise<Value> {
  const begun = Date.now();
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > begun + patience(timeoutMs)) throw new Error(`Not within ${timeoutMs} ms: ${await describe()}`);
    await pauseAfter(Date.now() - begun);
  }
}

/** The quantile of the values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

/** The most rows of the table that one transaction wrote last, of those that meet the condition. */
export async function mostAtOnce(url: string, table: string, condition: string): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(
    url,
    `SELECT count(*)::int FROM ${table} WHERE ${condition} GROUP BY xmin ORDER BY 1 DESC LIMIT 1`,
  );
  return row?.count ?? 0;
}
