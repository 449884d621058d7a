import type { Context } from 'koa';
import type { Identity } from '../../domain/people/identity.ts';
import type { Named } from '../../records/conversation.ts';
import { forbidden, notFound, unauthenticated } from '../../errors.ts';
import type { Actor } from '../../events/transaction.ts';
import { hashToken, looksForged } from '../../lib/tokens.ts';
import { factsOf, type Role } from './roles.ts';

const maxTokenLength = 256;

/** What `find` finds by the SHA-256 of a token. Errors: 401 without a token or with one that it does not find. */
export async function authenticate<Found>(
  token: string,
  find: (tokenHash: Buffer) => Promise<Found | null>,
): Promise<Found> {
  if (token === '' || token.length > maxTokenLength || looksForged(token)) throw unauthenticated();
  const found = await find(hashToken(token));
  if (!found) throw unauthenticated();
  return found;
}

/** The access token of a request, or ''. Many proxies drop headers with underscores, hence the other two spellings. */
export function tokenOf(ctx: Context): string {
  const bearer = /^Bearer +(\S+)$/i.exec(ctx.get('authorization'))?.[1] ?? '';
  return ctx.get('api_access_token') || ctx.get('api-access-token') || bearer;
}

/** The account in the path, and the caller as an actor of it. Errors: 404 when the caller does not belong to it, 403. */
export function enterAccount({ entry }: Identity, role: Role): { account: Named; actor: Actor } {
  if (!entry) throw notFound('Account');
  const { admits, refusal } = factsOf(role);
  if (!admits(entry.entrant)) throw forbidden(refusal);
  return { account: entry.account, actor: { ...entry.entrant, depth: 0 } };
}
