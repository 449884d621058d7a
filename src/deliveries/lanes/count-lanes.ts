import { keyOf } from '../core/endpoint.ts';
import type { Claim } from './claim.ts';

/** How many lanes of each endpoint were leased, by its key. */
export function countLanes({ heads, idle }: Claim): Map<string, number> {
  const keys = [
    ...heads.map(({ endpoint, account }) => keyOf({ id: endpoint.id, accountId: account.id })),
    ...idle.map(({ endpoint }) => keyOf(endpoint)),
  ];
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
