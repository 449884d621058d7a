import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../postgres/database.ts';
import { extendLeases, type Lease } from './queue/lease.ts';

export interface HeldLeasesOptions {
  database: Database;
  leaseSeconds: number;
  failed: (error: unknown) => void;
  /** Told that lanes of whatever endpoints may be due, since their leases were ended early. */
  ended: () => void;
}

const lockedRetryMs = 250;
/** How often a lease is renewed while it lasts. */
export const renewalsPerLease = 3;

/** The leases of this process: renewed while their attempts are under way, ended early when it cannot go on with them. */
export class HeldLeases {
  readonly #options: HeldLeasesOptions;
  readonly #held = new Set<Lease>();
  // Leases that an outage of the database kept this process from ending, each with the seconds that it is to last still.
  readonly #abandoned: (Lease & { seconds: number })[] = [];

  constructor(options: HeldLeasesOptions) {
    this.#options = options;
  }

  /** Attempts that are under way. */
  get size(): number {
    return this.#held.size;
  }

  /** Has a lease renewed until it is let go. */
  hold(lease: Lease): void {
    this.#held.add(lease);
  }

  letGo(lease: Lease): void {
    this.#held.delete(lease);
  }

  /** Has leases end so many seconds after the next `endAbandoned`: there is no need to wait until they run out. */
  abandon(leases: readonly Lease[], seconds = 0): void {
    this.#abandoned.push(...leases.map(({ laneId, token }) => ({ laneId, token, seconds })));
  }

  /** Ends what was abandoned. A lane that is locked stays until it is free, or its lease has run out and is another's. */
  async endAbandoned(): Promise<void> {
    const leases = this.#abandoned.splice(0);
    if (leases.length === 0) return;
    try {
      const locked = await this.#options.database.em().transactional(async (em) => {
        const bySeconds = [...Map.groupBy(leases, (lease) => lease.seconds)];
        const skipped = [];
        for (const [seconds, same] of bySeconds) skipped.push(...(await extendLeases(em, same, seconds)));
        return skipped;
      });
      this.#abandoned.push(...locked);
      if (locked.length < leases.length) this.#options.ended();
    } catch (error) {
      this.#abandoned.push(...leases);
      throw error;
    }
  }

  /**
   * Renews what is held. A bot may compute, or wait for its turn, longer than a lease lasts: the lease tells whether its
   * process is alive.
   */
  async renew(): Promise<void> {
    const { database, leaseSeconds, failed } = this.#options;
    let leases = [...this.#held];
    // Lanes that are locked are tried again alone, until the next renewal comes.
    for (let left = (leaseSeconds * 1000) / renewalsPerLease; leases.length > 0 && left > 0; left -= lockedRetryMs) {
      try {
        const held = leases.filter((lease) => this.#held.has(lease));
        leases = await database.em().transactional((em) => extendLeases(em, held, leaseSeconds));
      } catch (error) {
        return failed(error);
      }
      if (leases.length > 0) await wait(lockedRetryMs);
    }
  }
}
