import { collectDefaultMetrics, Registry } from 'prom-client';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Begins the names of all metrics. */
export const prefix = 'switchboard_';

/** Upper bounds of buckets, in seconds: from a lean request to a receiver that just answers in time. */
export const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

let ofProcess: Registry | null = null;

/** Returns the figures of this process: memory, processor, event loop. One for all services in it: its observers never end. */
export function processRegistry(): Registry {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess, prefix });
  return ofProcess;
}

/** Values of a label that others choose must not fill the memory. */
const maxValues = 1_000;

/** Returns a function that replaces the values of a label by `other` once there are too many. */
export function boundedLabel(): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.size < maxValues) known.add(value);
    return known.has(value) ? value : 'other';
  };
}
