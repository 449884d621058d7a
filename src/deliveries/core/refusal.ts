import type { DueEndpoint } from './slots.ts';

/** Why deliveries are cancelled: the endpoint is switched off or deleted, or somebody wanted its deliveries cancelled. */
export type CancelReason = 'endpoint_disabled' | 'endpoint_gone' | 'cancelled_on_request';

/**
 * The cause of a cancellation: the receiver answered 410 (`gone`), it failed for five days, or a person cancelled the deliveries,
 * switched the endpoint off or deleted it. The person's id and name are missing where no person of the account did it.
 */
export interface CancelledBy {
  kind: 'gone' | 'five_days' | 'person' | 'webhook_deleted';
  id?: number;
  name?: string;
}

/** The person who cancels deliveries, as it is kept with them; without id and name for all but an account's people. Pure. */
export function personOf({ kind, id, name }: { kind: string; id: number | null; name: string }): CancelledBy {
  return kind === 'user' && id !== null ? { kind: 'person', id, name } : { kind: 'person' };
}

/** An endpoint as it was at the claim. */
interface Known {
  url: string | null;
  sealedSecret: string | null;
  cancelReason: CancelReason | null;
  disabledReason: string | null;
}

/** The address and secret to call, or why the endpoint is not called, which cancels the delivery. Pure. */
export function calleeOf({
  url,
  sealedSecret,
  cancelReason,
}: Omit<Known, 'disabledReason'>): { url: string; sealedSecret: string } | CancelReason {
  if (cancelReason !== null) return cancelReason;
  if (sealedSecret === null) return 'endpoint_gone';
  return url === null ? 'endpoint_disabled' : { url, sealedSecret };
}

/** Why a bot's server is not called, which ends the delivery and gives the conversation to people. Pure. */
export function whyGivenUp(
  { disabledReason }: Pick<Known, 'disabledReason'>,
  { circuit }: Pick<DueEndpoint, 'circuit'>,
): 'bot_disabled' | 'circuit_open' | null {
  if (disabledReason !== null) return 'bot_disabled';
  return circuit === 'open' ? 'circuit_open' : null;
}
