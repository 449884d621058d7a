import { config } from 'chai';
import Mocha from 'mocha';
import { findLeaks } from './leaks.ts';
import { patience } from './patience.ts';
import { stopPostgres } from './postgres.ts';

/** Bound of a test or hook that names no longer one, on a machine that has no more to do than this suite. */
const patienceMs = 30_000;

// The log of a failure must tell which values differ: many fail on other machines only.
config.truncateThreshold = 1000;

const timeout = Reflect.get(Mocha.Runnable.prototype, 'timeout') as (...values: (string | number)[]) => unknown;
function patientTimeout(this: Mocha.Runnable, ...values: (string | number)[]): unknown {
  const [ms] = values;
  if (ms === undefined) return patience(Number(timeout.call(this)));
  return timeout.call(this, typeof ms === 'number' && ms > 0 ? Math.max(ms, patienceMs) : ms);
}
Reflect.set(Mocha.Runnable.prototype, 'timeout', patientTimeout);

/** Hooks around the whole run: they stop its Postgres, and fail when a test left something open. */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    await stopPostgres();
    const leaks = await findLeaks();
    if (leaks.length > 0) throw new Error(`The tests left open: ${leaks.join(', ')}`);
  },
};
