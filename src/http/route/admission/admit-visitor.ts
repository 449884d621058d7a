import type { Context } from 'koa';
import { originOf } from './origin.ts';
import { findClientVisit } from '../../../domain/widget/client-visits.ts';
import { findVisit, type Visit } from '../../../domain/widget/visits.ts';
import { ApiError, notFound } from '../../../errors.ts';
import { transact, type Actor, type Transact } from '../../../events/transaction.ts';
import { hashToken, looksForged } from '../../../lib/secrets/tokens.ts';
import type { Admitted } from '../call.ts';
import type { AdmissionOptions } from './admit.ts';
import { addressKey } from '../../server/limits/rate-limit.ts';
import { readPath } from '../body/read-request.ts';
import { factsOf, type Role } from './roles.ts';

const maxTokenLength = 256;

/**
 * Admits a caller under /public to the account of the inbox in the path. Errors: 404 for an inbox that is not public, and for a
 * `source_id` that admits nobody; 401 for a missing contact token or one that is not valid in the inbox; 429.
 */
export async function admitVisitor(
  ctx: Context,
  { role }: { role: Role },
  options: AdmissionOptions,
): Promise<Admitted> {
  const { services, database } = options;
  const { limits, keyed, bySource } = factsOf(role);
  if (limits.arriving) await options[limits.arriving].consume(ctx, addressKey(ctx));
  const params = readPath(ctx.params);
  const identifier = String(params['identifier']);
  const visit = await (bySource
    ? identifyClient(ctx, { identifier, sourceId: params['contact_identifier'] }, options)
    : identify(ctx, { identifier, mayBeNew: !keyed }, options));
  if (visit.contact) {
    const limit = (ctx.method === 'POST' && limits.posting) || limits.calling;
    if (limit) await options[limit].consume(ctx, `contact ${visit.contact.id}`);
  }
  const scope = { account: visit.account, actor: actorOf(visit) };
  const transactHere: Transact = (work) => transact(database, scope, work);
  return {
    services,
    sql: database.sql,
    now: database.clock.now(),
    origin: originOf(ctx),
    params,
    ...scope,
    visit,
    transact: transactHere,
    guess: (work) => countGuess(ctx, { key: `${addressKey(ctx)} ${visit.inbox.id}`, work }, options),
  };
}

// Counted before it is known whether it was one, so that many at once are not let through.
async function countGuess<Found extends { isNew: boolean }>(
  ctx: Context,
  { key, work }: { key: string; work: () => Promise<Found> },
  { guesses }: AdmissionOptions,
): Promise<Found> {
  await guesses.spend(ctx, key, 1);
  const found = await work();
  if (!found.isNew) await guesses.giveBack(key, 1);
  return found;
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
  const visit = await findVisit(options.database.sql, identifier, hash);
  if (!visit) throw notFound('Inbox');
  if (visit.contact || (mayBeNew && !given)) return visit;
  await options.failures.consume(ctx, addressKey(ctx));
  throw new ApiError(401, 'unauthenticated', 'The contact token is missing or not valid');
}

// A guess counts like a wrong token.
async function identifyClient(
  ctx: Context,
  { identifier, sourceId }: { identifier: string; sourceId: string | number | undefined },
  options: AdmissionOptions,
): Promise<Visit> {
  await options.failures.check(ctx, addressKey(ctx));
  const known = sourceId === undefined ? null : String(sourceId);
  const visit = await findClientVisit(options.database.sql, identifier, known);
  if (!visit) throw notFound('Inbox');
  if (visit.contact || known === null) return visit;
  await options.failures.consume(ctx, addressKey(ctx));
  throw notFound('Contact');
}

function readToken(ctx: Context): { given: boolean; hash: Buffer | null } {
  const token = ctx.get('x-contact-token');
  const possible = token !== '' && token.length <= maxTokenLength && !looksForged(token);
  return { given: token !== '', hash: possible ? hashToken(token) : null };
}
