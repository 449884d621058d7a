import type { Context } from 'koa';
import type { Database } from '../../postgres/database.ts';
import { findVisit, type Visit } from '../../domain/widget/visits.ts';
import { ApiError, notFound } from '../../errors.ts';
import { transact, type Actor } from '../../events/transaction.ts';
import { hashToken, looksForged } from '../../lib/tokens.ts';
import type { AnyCall } from './one-transaction.ts';
import { addressKey, type RateLimit } from '../server/rate-limit.ts';
import { readPath } from './read-request.ts';
import type { OutsideServices } from './route.ts';

/** What callers are let in by. */
export interface AdmissionOptions {
  database: Database;
  services: OutsideServices;
  /** Requests per token. */
  requests: RateLimit;
  /** Failed authentications per address. */
  failures: RateLimit;
  /** Widget sessions per address. */
  sessions: RateLimit;
  /** Characters of JSON that one address may have stored. */
  visitorBytes: RateLimit;
  /** Changes per contact token. */
  contactWrites: RateLimit;
}

const maxTokenLength = 256;

function readToken(ctx: Context): { given: boolean; hash: Buffer | null } {
  const token = ctx.get('x-contact-token');
  const possible = token !== '' && token.length <= maxTokenLength && !looksForged(token);
  return { given: token !== '', hash: possible ? hashToken(token) : null };
}

function actorOf({ contact }: Visit): Actor {
  const unknown = { id: null, name: 'Visitor', email: null, avatarUrl: null };
  return { ...(contact ?? unknown), kind: 'contact', role: null, depth: 0 };
}

async function identify(
  ctx: Context,
  { identifier, mayBeNew }: { identifier: string; mayBeNew: boolean },
  options: AdmissionOptions,
): Promise<Visit> {
  await options.failures.check(ctx, addressKey(ctx));
  const { given, hash } = readToken(ctx);
  const visit = await findVisit(options.database.em(), identifier, hash);
  if (!visit) throw notFound('Inbox');
  if (visit.contact || (mayBeNew && !given)) return visit;
  await options.failures.consume(ctx, addressKey(ctx));
  throw new ApiError(401, 'unauthenticated', 'The contact token is missing or not valid');
}

/**
 * Lets in who calls under /public, for the account of the inbox in the path. Errors: 404 for an inbox that is not
 * public, 401 for a contact token that is not valid there or missing, 429.
 */
export async function admitVisitor(
  ctx: Context,
  role: 'visitor' | 'contact',
  options: AdmissionOptions,
): Promise<Partial<AnyCall>> {
  const { services, database } = options;
  if (role === 'visitor') await options.sessions.consume(ctx, addressKey(ctx));
  const { ids, names } = readPath(ctx.params);
  const { identifier = '' } = names;
  const visit = await identify(ctx, { identifier, mayBeNew: role === 'visitor' }, options);
  if (visit.contact) {
    const limit = role === 'contact' && ctx.method === 'POST' ? options.contactWrites : options.requests;
    await limit.consume(ctx, `contact ${visit.contact.id}`);
  }
  const scope = { account: visit.account, actor: actorOf(visit) };
  return {
    services,
    em: database.em(),
    now: database.clock.now(),
    ids,
    names,
    ...scope,
    visit,
    transact: (work) => transact(database, scope, work),
  };
}
