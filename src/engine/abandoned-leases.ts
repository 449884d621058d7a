import type { Database } from '../postgres/database.ts';
import type { Lease } from '../deliveries/lanes/lease.ts';
import { endLeases, type Abandoned } from './lease-renewal.ts';

/** Leases that their process gives up, which an outage or a locked lane may delay. */
export class AbandonedLeases {
  readonly #database: Database;
  #leases: Abandoned[] = [];

  constructor(database: Database) {
    this.#database = database;
  }

  /** How many are to be ended. */
  get size(): number {
    return this.#leases.length;
  }

  /** Gives leases up: they are to end in so many seconds. */
  add(leases: readonly Lease[], seconds: number): void {
    this.#leases.push(...leases.map(({ laneId, token }) => ({ laneId, token, seconds })));
  }

  /** Ends them, except for those whose lanes are locked, which are tried again the next time; whether any has ended. */
  async end(): Promise<boolean> {
    const leases = this.#leases;
    this.#leases = [];
    try {
      const locked = await endLeases(this.#database, leases);
      this.#leases.push(...locked);
      return locked.length < leases.length;
    } catch (error) {
      this.#leases.push(...leases);
      throw error;
    }
  }
}
