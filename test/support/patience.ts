import { availableParallelism, loadavg } from 'node:os';

/** Returns a bound of time for a machine with more work than the suite makes, which is two processes for each core. */
export function patience(ms: number): number {
  const [lastMinute = 0] = loadavg();
  return ms * Math.max(1, lastMinute / (2 * availableParallelism()));
}
