import type { DueEndpoint } from './slots.ts';

/** What is known of an endpoint at the claim. */
interface Known {
  url: string | null;
  sealedSecret: string | null;
  disabledReason: string | null;
}

/** The address and secret to call, or why the endpoint is not called, which cancels the delivery. Pure. */
export function calleeOf({
  url,
  sealedSecret,
}: Pick<Known, 'url' | 'sealedSecret'>): { url: string; sealedSecret: string } | 'endpoint_gone' | 'endpoint_disabled' {
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
