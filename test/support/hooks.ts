import { findLeaks } from './leaks.ts';
import { stopPostgres } from './postgres.ts';

/** Hooks around the whole run: they stop its Postgres, and fail when a test left something open. */
export const mochaHooks = {
  async afterAll(this: Mocha.Context): Promise<void> {
    this.timeout(60_000);
    await stopPostgres();
    const leaks = await findLeaks();
    if (leaks.length > 0) throw new Error(`The tests left open: ${leaks.join(', ')}`);
  },
};
