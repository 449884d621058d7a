import type { CancelledBy } from '../deliveries/core/refusal.ts';
import type { Actor } from '../events/transaction.ts';

/** The person who cancels deliveries, as they are kept with them; without id and name for whoever is not of the account. */
export function personOf({ kind, id, name }: Actor): CancelledBy {
  return kind === 'user' && id !== null ? { kind: 'person', id, name } : { kind: 'person' };
}
