import type { Database } from '../postgres/database.ts';
import { isPassing } from '../postgres/errors.ts';
import type { EndpointKind } from '../deliveries/core/endpoint.ts';
import type { Share } from '../deliveries/core/slots.ts';
import type { Claim } from '../deliveries/lanes/claim.ts';
import { releaseLanes, type Lease } from '../deliveries/lanes/lease.ts';
import { giveBackProbes } from '../deliveries/lanes/probes.ts';
import type { AbandonedLeases } from './abandoned-leases.ts';

interface Options {
  kind: EndpointKind;
  database: Database;
  holdAttempts: number;
  failed: (error: unknown) => void;
}

/** Shares that were claimed under a token, and what the claim got. */
interface Claimed {
  shares: readonly Share[];
  claim: Claim;
  token: string;
  abandoned: AbandonedLeases;
}

/** Gives back lanes without a delivery, and probes that no delivery was found for. Leases of locked lanes are abandoned. */
export async function giveBackUnused(
  { kind, database, holdAttempts, failed }: Options,
  { shares, claim: { heads, idle }, token, abandoned }: Claimed,
): Promise<void> {
  const probed = new Set(heads.map(({ endpoint }) => endpoint.id));
  const idleProbes = shares.filter(({ circuit, id }) => circuit === 'probe' && !probed.has(id)).map(({ id }) => id);
  let leases: readonly Lease[] = idle.map(({ laneId }) => ({ laneId, token }));
  try {
    if (leases.length > 0) leases = await database.transaction((sql) => releaseLanes(sql, leases, holdAttempts));
    abandoned.add(leases, 0);
    if (idleProbes.length > 0) await giveBackProbes(database.sql, kind, [...new Set(idleProbes)]).catch(failed);
  } catch (error) {
    if (isPassing(error)) abandoned.add(leases, 0);
    throw error;
  }
}
