import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../postgres/database.ts';
import { extendLeases, type Lease } from '../deliveries/lanes/lease.ts';

export interface RenewalOptions {
  database: Database;
  leaseSeconds: number;
  failed: (error: unknown) => void;
}

const lockedRetryMs = 250;
/** Renewals during the length of a lease. */
export const renewalsPerLease = 3;

/**
 * Renews leases as long as they are held. A bot may compute, or wait in a queue, longer than a lease lasts: the lease only
 * proves that its process is alive.
 */
export async function renewLeases(
  { database, leaseSeconds, failed }: RenewalOptions,
  heldNow: () => readonly Lease[],
): Promise<void> {
  let leases = heldNow();
  // Locked lanes are tried again until the next renewal.
  for (let left = (leaseSeconds * 1000) / renewalsPerLease; leases.length > 0 && left > 0; left -= lockedRetryMs) {
    try {
      const stillHeld = new Set(heldNow());
      const held = leases.filter((lease) => stillHeld.has(lease));
      leases = await database.transaction((sql) => extendLeases(sql, held, leaseSeconds));
    } catch (error) {
      return failed(error);
    }
    if (leases.length > 0) await wait(lockedRetryMs);
  }
}

/** A lease that its process gives up, and how long it is to last after that. */
export interface Abandoned extends Lease {
  seconds: number;
}

/** Makes abandoned leases end early; returns those whose lanes are locked, unchanged. */
export function endLeases(database: Database, leases: readonly Abandoned[]): Promise<Abandoned[]> {
  return database.transaction(async (sql) => {
    const locked: Abandoned[] = [];
    for (const [seconds, same] of Map.groupBy(leases, (lease) => lease.seconds)) {
      locked.push(...(await extendLeases(sql, same, seconds)));
    }
    return locked;
  });
}
