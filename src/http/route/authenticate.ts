import type { EntityManager } from '@mikro-orm/postgresql';
import type { Context } from 'koa';
import { findEntry, findPrincipal, type Membership, type Principal } from '../../domain/people/identity.ts';
import type { Named } from '../../records/conversation.ts';
import { forbidden, notFound, unauthenticated } from '../../errors.ts';
import type { Actor } from '../../events/transaction.ts';
import { hashToken, looksForged } from '../../lib/tokens.ts';
import type { Role } from './route.ts';

const maxTokenLength = 256;

// Proxies drop headers with underscores unless told otherwise, hence the other two spellings.
function tokenOf(ctx: Context): string {
  const bearer = /^Bearer +(\S+)$/i.exec(ctx.get('authorization'))?.[1] ?? '';
  return ctx.get('api_access_token') || ctx.get('api-access-token') || bearer;
}

/** Whom the request's token belongs to. Errors: 401 without a token or with one that nobody holds. */
export async function authenticate(ctx: Context, em: EntityManager): Promise<Principal> {
  const token = tokenOf(ctx);
  if (token === '' || token.length > maxTokenLength || looksForged(token)) throw unauthenticated();
  const principal = await findPrincipal(em, hashToken(token));
  if (!principal) throw unauthenticated();
  return principal;
}

/** Whether somebody may call operations for the role: a person with a part in the account, or a bot. */
export function mayCall(role: Role, caller: { kind: Actor['kind']; role: Membership['role'] | null }): boolean {
  if (role === 'anyone' || role === 'visitor') return true;
  if (caller.kind === 'contact' || role === 'contact') return caller.kind === role;
  if (role === 'bot') return true;
  if (caller.kind === 'agent_bot') return false;
  return role === 'administrator' ? caller.role === 'administrator' : true;
}

/** The account of the path and the caller's part in it. Errors: 404 for an account it does not belong to, 403. */
export async function enterAccount(
  em: EntityManager,
  accountId: number,
  principal: Principal,
  role: Role,
): Promise<{ account: Named; actor: Actor }> {
  const entry = await findEntry(em, accountId, principal);
  if (!entry) throw notFound('Account');
  if (!mayCall(role, entry.entrant)) {
    throw forbidden(role === 'administrator' ? 'Only administrators may do this' : 'Bots may not do this');
  }
  return { account: entry.account, actor: { ...entry.entrant, depth: 0 } };
}
