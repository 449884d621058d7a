import { DoorError } from './errors.ts';

/** Requests of one run, by `ctx.fetch` and `ctx.tools` together. */
const maxRequests = 10;

/** Counts the requests of one run. */
export class RequestBudget {
  #made = 0;

  /** Counts one more. Throws a DoorError where there were too many. */
  take(): void {
    this.#made += 1;
    if (this.#made > maxRequests) throw new DoorError('too_many_requests', `A run may send ${maxRequests} requests`);
  }
}
