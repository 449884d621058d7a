import type { EntityManager } from '@mikro-orm/postgresql';
import type { Context } from 'koa';
import { findEntry, findPrincipal, type Principal } from '../../domain/people/identity.ts';
import type { Named } from '../../records/conversation.ts';
import { forbidden, notFound, unauthenticated } from '../../errors.ts';
import type { Actor } from '../../events/transaction.ts';
import { hashToken, looksForged } from '../../lib/tokens.ts';
import { factsOf, type Role } from './roles.ts';

const maxTokenLength = 256;

/** The holder of the request's token. Errors: 401 without a token or with an unknown one. */
export async function authenticate(ctx: Context, em: EntityManager): Promise<Principal> {
  const token = tokenOf(ctx);
  if (token === '' || token.length > maxTokenLength || looksForged(token)) throw unauthenticated();
  const principal = await findPrincipal(em, hashToken(token));
  if (!principal) throw unauthenticated();
  return principal;
}

// Many proxies drop headers with underscores, hence the other two spellings.
function tokenOf(ctx: Context): string {
  const bearer = /^Bearer +(\S+)$/i.exec(ctx.get('authorization'))?.[1] ?? '';
  return ctx.get('api_access_token') || ctx.get('api-access-token') || bearer;
}

/** The account in the path, and the caller as an actor of it. Errors: 404 when the caller does not belong to it, 403. */
export async function enterAccount(
  em: EntityManager,
  accountId: number,
  principal: Principal,
  role: Role,
): Promise<{ account: Named; actor: Actor }> {
  const entry = await findEntry(em, accountId, principal);
  if (!entry) throw notFound('Account');
  const { admits, refusal } = factsOf(role);
  if (!admits(entry.entrant)) throw forbidden(refusal);
  return { account: entry.account, actor: { ...entry.entrant, depth: 0 } };
}
