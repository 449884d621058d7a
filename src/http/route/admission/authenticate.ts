import type { Context } from 'koa';
import { isValid, type Identity } from '../../../domain/people/identity.ts';
import type { Named } from '../../../records/conversations/conversation.ts';
import { forbidden, notFound, unauthenticated } from '../../../errors.ts';
import type { Actor } from '../../../events/transaction.ts';
import { hashToken, isSignIn, looksForged } from '../../../lib/secrets/tokens.ts';
import { factsOf, refusalOf, type Caller, type Role } from './roles.ts';

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

/** The account in the path, and the caller as an actor of it, at a depth. Errors: 404 when the caller does not belong to it, 403. */
export function enterAccount(identity: Identity, role: Role, depth: number): { account: Named; actor: Actor } {
  const { entry } = identity;
  const caller = callerIn(identity);
  if (!entry || !caller) throw notFound('Account');
  if (!factsOf(role).admits(caller)) throw forbidden(refusalOf(role, caller));
  return { account: entry.account, actor: { ...entry.entrant, depth, calls: true } };
}

/** The caller as the roles of an account judge it; null for who does not belong to it. Through a link, its creator's rights do not count. */
export function callerIn({ principal, entry }: Identity): Caller | null {
  if (principal.kind === 'webhook') return entry && { kind: 'webhook', role: null };
  return entry?.entrant ?? null;
}
