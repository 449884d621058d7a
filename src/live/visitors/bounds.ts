import { ApiError } from '../../errors.ts';
import type { VisitorStream, Visiting } from './stream.ts';

/** How many streams of contacts one process has open at most. */
export interface VisitorBounds {
  perInbox: number;
  perAddress: number;
}

/** The share of an account's streams that contacts must leave to its agents. */
const leftToAgents = 1 / 4;
const retryAfterSeconds = 15;

/** Errors: 429 when the inbox, the address or the contacts of the account have as many streams as they may have. */
export function refuseMoreVisitors(
  { accountId, inboxId, address }: Visiting,
  open: readonly VisitorStream[],
  { perAccount, perInbox, perAddress }: VisitorBounds & { perAccount: number },
): void {
  const count = (counts: (visiting: Visiting) => boolean) => open.filter(({ visiting }) => counts(visiting)).length;
  if (count((other) => other.address === address) >= perAddress) throw tooMany('Your address has');
  if (count((other) => other.inboxId === inboxId) >= perInbox) throw tooMany('The inbox has');
  const ofAccount = count((other) => other.accountId === accountId);
  if (ofAccount >= Math.max(1, perAccount * (1 - leftToAgents))) throw tooMany('The contacts of the account have');
}

function tooMany(who: string): ApiError {
  return new ApiError(429, 'too_many_streams', `${who} as many streams of events open as allowed`, {
    headers: { 'retry-after': String(retryAfterSeconds) },
  });
}
