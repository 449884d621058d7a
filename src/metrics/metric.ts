import type { Declared, Labels } from './text.ts';

/** Series of one metric: labels that others choose must not fill the memory. */
const maxSeries = 1_000;

interface Series {
  labels: Labels;
  /** Counts by bucket; the last one is of all values. */
  counts: number[];
  sum: number;
}

/** The common part of counters and histograms: values by labels, counted by buckets. */
export abstract class Metric {
  readonly declared: Declared;
  readonly buckets: readonly number[];
  readonly #series = new Map<string, Series>();

  constructor(declared: Declared, buckets: readonly number[]) {
    this.declared = declared;
    this.buckets = buckets;
  }

  protected add(labels: Labels, value: number): void {
    const series = this.#find(labels);
    this.buckets.forEach((bound, index) => {
      if (value <= bound) series.counts[index] = (series.counts[index] ?? 0) + 1;
    });
    series.counts[this.buckets.length] = (series.counts[this.buckets.length] ?? 0) + 1;
    series.sum += value;
  }

  protected get series(): Iterable<Series> {
    return this.#series.values();
  }

  abstract lines(): string[];

  #find(labels: Labels): Series {
    const key = JSON.stringify(labels);
    const found = this.#series.get(key);
    if (found) return found;
    const isFull = this.#series.size >= maxSeries;
    const kept = isFull ? Object.fromEntries(Object.keys(labels).map((name) => [name, 'other'])) : labels;
    const keptKey = JSON.stringify(kept);
    const series = this.#series.get(keptKey) ?? { labels: kept, counts: [...this.buckets.map(() => 0), 0], sum: 0 };
    this.#series.set(keptKey, series);
    return series;
  }
}
