import type { Context } from 'koa';
import { isValid, type Identity } from '../../../domain/people/identity.ts';
import type { Named } from '../../../records/conversations/conversation.ts';
import { forbidden, notFound, unauthenticated } from '../../../errors.ts';
import type { Actor } from '../../../events/transaction.ts';
import { hashToken, isSignIn, looksForged } from '../../../lib/secrets/tokens.ts';
import { factsOf, type Role } from './roles.ts';

const maxTokenLength = 256;

/** Returns the record that `find` finds by the token's SHA-256. Errors: 401 for a missing, unknown or expired token. */
export async function authenticate<Found extends { expiresAt: Date | null }>(
  token: string,
  find: (tokenHash: Buffer) => Promise<Found | null>,
  now: Date,
): Promise<Found> {
  if (token === '' || token.length > maxTokenLength || looksForged(token)) throw unauthenticated();
  const found = await find(hashToken(token));
  if (!found || !isValid(found, now)) throw unauthenticated();
  return found;
}

/**
 * The access token in a request's headers, or ''. Many proxies drop headers with underscores, hence the other two spellings.
 * A sign-in counts in its cookie only, where no script can read it.
 */
export function tokenOf(ctx: Context): string {
  const bearer = /^Bearer +(\S+)$/i.exec(ctx.get('authorization'))?.[1] ?? '';
  const token = ctx.get('api_access_token') || ctx.get('api-access-token') || bearer;
  return isSignIn(token) ? '' : token;
}

/** The account in the path, and the caller as an actor of it. Errors: 404 when the caller does not belong to it, 403. */
export function enterAccount({ entry }: Identity, role: Role): { account: Named; actor: Actor } {
  if (!entry) throw notFound('Account');
  const { admits, refusal } = factsOf(role);
  if (!admits(entry.entrant)) throw forbidden(refusal);
  return { account: entry.account, actor: { ...entry.entrant, depth: 0 } };
}
