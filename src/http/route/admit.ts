import type { EntityManager } from '@mikro-orm/postgresql';
import type { Context } from 'koa';
import type { Database } from '../../postgres/database.ts';
import type { Principal } from '../../domain/people/identity.ts';
import { ApiError, forbidden } from '../../errors.ts';
import { transact, transactOutside, type OuterTransaction, type Transact } from '../../events/transaction.ts';
import { addressKey, type RateLimit } from '../server/rate-limit.ts';
import { admitVisitor } from './admit-visitor.ts';
import { authenticate, enterAccount } from './authenticate.ts';
import type { Admitted, OutsideServices } from './call.ts';
import { readPath } from './read-request.ts';
import { factsOf, type DoorName, type Role } from './roles.ts';

/** What admission works with. */
export interface AdmissionOptions {
  database: Database;
  services: OutsideServices;
  /** Requests per token. */
  requests: RateLimit;
  /** Failed authentications per address. */
  failures: RateLimit;
  /** Widget sessions per address. */
  sessions: RateLimit;
  /** Characters of JSON that one address may store. */
  visitorBytes: RateLimit;
  /** Changes per contact token. */
  contactWrites: RateLimit;
}

type Admit = (ctx: Context, role: Role, options: AdmissionOptions) => Promise<Admitted>;

const byDoor: Record<DoorName, Admit> = {
  account: admitToAccount,
  platform: admitToPlatform,
  visitor: admitVisitor,
  open: admitAnybody,
};

/** Admits the caller by the door of the role. Errors: 400, 401, 403, 404, 429. */
export const admit: Admit = (ctx, role, options) => byDoor[factsOf(role).door](ctx, role, options);

async function identify(
  ctx: Context,
  { em, role }: { em: EntityManager; role: Role },
  options: AdmissionOptions,
): Promise<Principal> {
  const principal = await authenticate(ctx, em).catch(async (error: unknown) => {
    if (error instanceof ApiError) await options.failures.consume(ctx, addressKey(ctx));
    throw error;
  });
  const { calling } = factsOf(role).limits;
  if (calling) await options[calling].consume(ctx, principal.tokenId);
  return principal;
}

function openCall({ services, database }: AdmissionOptions) {
  return { services, em: database.em(), now: database.clock.now() };
}

function outside(database: Database): Transact<OuterTransaction> {
  return (work) => transactOutside(database, work);
}

async function admitToAccount(ctx: Context, role: Role, options: AdmissionOptions): Promise<Admitted> {
  const { database } = options;
  const call = openCall(options);
  const principal = await identify(ctx, { em: call.em, role }, options);
  const params = readPath(ctx.params);
  const scope = await enterAccount(call.em, Number(params['account_id']), principal, role);
  const transactHere: Transact = (work) => transact(database, scope, work);
  return { ...call, principal, params, ...scope, transact: transactHere };
}

async function admitToPlatform(ctx: Context, role: Role, options: AdmissionOptions): Promise<Admitted> {
  const call = openCall(options);
  const principal = await identify(ctx, { em: call.em, role }, options);
  const params = readPath(ctx.params);
  const { admits, refusal } = factsOf(role);
  if (!admits({ ...principal, role: null })) throw forbidden(refusal);
  return { ...call, principal, params, transact: outside(options.database) };
}

async function admitAnybody(ctx: Context, _role: Role, options: AdmissionOptions): Promise<Admitted> {
  return { ...openCall(options), params: readPath(ctx.params), transact: outside(options.database) };
}
