/** The labels of one time series. */
export type Labels = Readonly<Record<string, string>>;

/** A value of a time series. */
export interface Reading {
  labels?: Labels;
  value: number;
}

/** The name of a metric, and its help text. */
export interface Declared {
  name: string;
  help: string;
}

/** Lines of a value that goes up and down, in the text format of Prometheus. */
export function gaugeLines(name: string, help: string, readings: readonly Reading[]): string[] {
  return describe({ name, help }, 'gauge', readings);
}

/** Lines of a metric whose series have one value each. */
export function describe(declared: Declared, type: 'counter' | 'gauge', readings: readonly Reading[]): string[] {
  return [...headOf(declared, type), ...readings.map(({ labels = {}, value }) => lineOf(declared.name, labels, value))];
}

/** The lines that introduce a metric. */
export function headOf({ name, help }: Declared, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

/** The line of one value. */
export function lineOf(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
