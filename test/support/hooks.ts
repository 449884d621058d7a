import { findLeaks } from './leaks.ts';
import { stopPostgres } from './postgres.ts';

// How long a test takes says something of the machine: only one that stands still is ended.
const leastPatienceMs = 180_000;

/** Hooks around the whole run: they stop its Postgres, and fail when a test left something open. */
export const mochaHooks = {
  beforeEach(this: Mocha.Context): void {
    const test = this.currentTest;
    if (test && test.timeout() > 0) test.timeout(Math.max(test.timeout(), leastPatienceMs));
  },

  async afterAll(this: Mocha.Context): Promise<void> {
    this.timeout(leastPatienceMs);
    await stopPostgres();
    const leaks = await findLeaks();
    if (leaks.length > 0) throw new Error(`The tests left open: ${leaks.join(', ')}`);
  },
};
