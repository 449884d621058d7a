import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../postgres/database.ts';
import { extendLeases, type Lease } from './queue/lease.ts';

export interface HeldLeasesOptions {
  database: Database;
  leaseSeconds: number;
  failed: (error: unknown) => void;
  /** Called when leases were ended early: lanes of any endpoint may be due. */
  ended: () => void;
}

const lockedRetryMs = 250;
/** Renewals during the length of a lease. */
export const renewalsPerLease = 3;

/** The leases of this process: renewed while their attempts are in progress, ended early when they are given up. */
export class HeldLeases {
  readonly #options: HeldLeasesOptions;
  readonly #held = new Set<Lease>();
  // Leases to be ended, which an outage may delay; `seconds` is how long each is to last after that.
  readonly #abandoned: (Lease & { seconds: number })[] = [];

  constructor(options: HeldLeasesOptions) {
    this.#options = options;
  }

  /** The number of attempts in progress. */
  get size(): number {
    return this.#held.size;
  }

  /** Renews a lease until `letGo`. */
  hold(lease: Lease): void {
    this.#held.add(lease);
  }

  letGo(lease: Lease): void {
    this.#held.delete(lease);
  }

  /** Makes leases end `seconds` after the next `endAbandoned`, instead of after their full length. */
  abandon(leases: readonly Lease[], seconds = 0): void {
    this.#abandoned.push(...leases.map(({ laneId, token }) => ({ laneId, token, seconds })));
  }

  /** Ends abandoned leases. One whose lane is locked is tried again later. */
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
   * Renews the held leases. A bot may compute, or wait in a queue, longer than a lease lasts: the lease only proves that its
   * process is alive.
   */
  async renew(): Promise<void> {
    const { database, leaseSeconds, failed } = this.#options;
    let leases = [...this.#held];
    // Locked lanes are tried again until the next renewal.
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
