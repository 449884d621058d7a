import Mocha from 'mocha';
import { findLeaks } from './leaks.ts';
import { stopPostgres } from './postgres.ts';

// How long a test or a hook takes says something of the machine: only what stands still is ended.
const leastPatienceMs = 180_000;

const timeout = Reflect.get(Mocha.Runnable.prototype, 'timeout') as (this: Mocha.Runnable) => number;
Mocha.Runnable.prototype.timeout = function (this: Mocha.Runnable, ...given: (string | number)[]) {
  const [ms] = given;
  const patient = typeof ms === 'number' && ms > 0 ? [Math.max(ms, leastPatienceMs)] : given;
  return Reflect.apply(timeout, this, patient) as Mocha.Runnable & number;
};

/** Hooks around the whole run: they stop its Postgres, and fail when a test left something open. */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    await stopPostgres();
    const leaks = await findLeaks();
    if (leaks.length > 0) throw new Error(`The tests left open: ${leaks.join(', ')}`);
  },
};
