import { Metric } from './metric.ts';
import { describe, headOf, lineOf, type Labels } from './text.ts';

/** Upper bounds of buckets, in seconds: from a lean request to a receiver that just answers in time. */
const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Something that is counted. */
export class Counter extends Metric {
  constructor(name: string, help: string) {
    super({ name, help }, []);
  }

  count(labels: Labels, by = 1): void {
    this.add(labels, by);
  }

  lines(): string[] {
    const { name, help } = this.declared;
    const values = Array.from(this.series, ({ labels, sum }) => ({ labels, value: sum }));
    return describe({ name, help }, 'counter', values);
  }
}

/** The distribution of something that takes seconds. */
export class Histogram extends Metric {
  constructor(name: string, help: string) {
    super({ name, help }, secondsBuckets);
  }

  observe(labels: Labels, seconds: number): void {
    this.add(labels, seconds);
  }

  lines(): string[] {
    const { name, help } = this.declared;
    const lines = Array.from(this.series, ({ labels, counts, sum }) => [
      ...[...this.buckets.map(String), '+Inf'].map((le, index) =>
        lineOf(`${name}_bucket`, { ...labels, le }, counts[index] ?? 0),
      ),
      lineOf(`${name}_sum`, labels, sum),
      lineOf(`${name}_count`, labels, counts.at(-1) ?? 0),
    ]);
    return [...headOf({ name, help }, 'histogram'), ...lines.flat()];
  }
}
