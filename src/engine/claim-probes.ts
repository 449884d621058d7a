import type { Database } from '../postgres/database.ts';
import type { EndpointKind } from '../deliveries/core/endpoint.ts';
import { probesOf, withProbes } from '../deliveries/core/probes.ts';
import type { Share } from '../deliveries/core/slots.ts';
import { takeProbes } from '../deliveries/lanes/probes.ts';

interface Options {
  kind: EndpointKind;
  database: Database;
  leaseSeconds: number;
  failed: (error: unknown) => void;
}

/**
 * Filters shares to those that may be claimed: of the probes only those that this process, among all processes, has taken.
 * An error in taking probes costs only the probes: all other shares are claimed.
 */
export async function claimProbes(
  { kind, database, leaseSeconds, failed }: Options,
  shares: readonly Share[],
): Promise<readonly Share[]> {
  const endpointIds = [...probesOf(shares).keys()];
  if (endpointIds.length === 0) return shares;
  const bounds = { kind, endpointIds, seconds: leaseSeconds };
  const ours = await takeProbes(database.sql, bounds).catch((error: unknown) => {
    failed(error);
    return new Set<number>();
  });
  return withProbes(shares, ours);
}
