import type { Share } from './slots.ts';

/**
 * The probes among shares, by endpoint id. Pure. An endpoint's probe is one delivery of one account: of a system bot's
 * accounts the one whose turn it is, which comes first.
 */
export function probesOf(shares: readonly Share[]): Map<number, Share> {
  const probes = new Map<number, Share>();
  for (const share of shares) if (share.circuit === 'probe' && !probes.has(share.id)) probes.set(share.id, share);
  return probes;
}

/** The shares that may be claimed when this process has taken the probes `ours`. Pure. */
export function withProbes(shares: readonly Share[], ours: ReadonlySet<number>): Share[] {
  const probes = probesOf(shares);
  return shares.filter((share) => share.circuit !== 'probe' || (ours.has(share.id) && probes.get(share.id) === share));
}
