/** A series of a scrape: its name with labels, and its value. */
interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Two scrapes, the later one first; `increase` is the difference. */
export interface Scrapes {
  now: string;
  before: string;
}

/**
 * Whether an alert's expression has a result: `left > number` or `left == number`, where `left` is a selector, an aggregation
 * (`max`, `sum`, `by`) of one or of its `increase`, or a quotient of two. All that the shipped alerts use; throws for others.
 */
export function fires(expression: string, scrapes: Scrapes): boolean {
  const [, left = '', operator, limit] = /^(.+?) (>|==) ([\d.]+)$/s.exec(expression.trim()) ?? [];
  if (!operator) throw new Error(`Not understood: ${expression}`);
  const values = valuesOf(left, scrapes);
  return values.some((value) => (operator === '>' ? value > Number(limit) : value === Number(limit)));
}

function valuesOf(expression: string, scrapes: Scrapes): number[] {
  const [dividend = '', divisor] = expression.split(/ \/ (?![^{]*\})/);
  if (divisor === undefined) return aggregated(dividend, scrapes);
  const [one, other] = [aggregated(dividend, scrapes), aggregated(divisor, scrapes)];
  return one.map((value) => value / (other[0] ?? Number.NaN));
}

function aggregated(expression: string, scrapes: Scrapes): number[] {
  const [, how, by, inner] = /^(max|sum)(?: by \((\w+)\))? ?\((.+)\)$/.exec(expression) ?? [];
  if (inner === undefined) return selected(expression, scrapes.now).map(({ value }) => value);
  const [, range] = /^increase\((.+)\[\w+\]\)$/.exec(inner) ?? [];
  const samples = range === undefined ? selected(inner, scrapes.now) : increased(range, scrapes);
  const groups = Map.groupBy(samples, ({ labels }) => (by === undefined ? '' : (labels[by] ?? '')));
  return Array.from(groups.values(), (group) => {
    const values = group.map(({ value }) => value);
    return how === 'max' ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0);
  });
}

function increased(selector: string, { now, before }: Scrapes): Sample[] {
  const earlier = new Map(selected(selector, before).map(({ labels, value }) => [JSON.stringify(labels), value]));
  return selected(selector, now).map((sample) => ({
    ...sample,
    value: sample.value - (earlier.get(JSON.stringify(sample.labels)) ?? sample.value),
  }));
}

function selected(selector: string, scrape: string): Sample[] {
  const [, name, conditions = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(selector) ?? [];
  if (name === undefined) throw new Error(`Not understood: ${selector}`);
  const wanted = Array.from(conditions.matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g), ([, label = '', how, text = '']) => {
    const pattern = new RegExp(`^(?:${text})$`);
    return ({ labels }: Sample) =>
      how === '=~' ? pattern.test(labels[label] ?? '') : (labels[label] === text) === (how === '=');
  });
  return samplesOf(scrape).filter((sample) => sample.name === name && wanted.every((holds) => holds(sample)));
}

function samplesOf(scrape: string): Sample[] {
  return Array.from(scrape.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm), ([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries(
      Array.from(labels.matchAll(/(\w+)="([^"]*)"/g), ([, label = '', text = '']) => [label, text]),
    ),
    value: Number(value),
  }));
}
