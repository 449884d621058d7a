import type { Context } from 'koa';
import type { Database } from '../../../postgres/database.ts';
import {
  findPrincipal,
  isSamePrincipal,
  isUnchanged,
  type Identity,
  type Principal,
} from '../../../domain/people/identity.ts';
import { redeemStreamTicket } from '../../../domain/people/stream-tickets.ts';
import type { Identities } from '../../../domain/people/remembered-identities.ts';
import { ApiError, forbidden } from '../../../errors.ts';
import { transact, transactOutside, type OuterTransaction, type Transact } from '../../../events/transaction.ts';
import { hasOurPrefix } from '../../../lib/secrets/tokens.ts';
import { addressKey, type RateLimit } from '../../server/limits/rate-limit.ts';
import { admitVisitor } from './admit-visitor.ts';
import { originOf } from './origin.ts';
import { authenticate, callerIn, enterAccount, tokenOf } from './authenticate.ts';
import { Browser } from './browser.ts';
import { depthOf } from './causation.ts';
import type { Admitted, OutsideServices } from '../call.ts';
import { Proof, type Holds } from './proof.ts';
import { readPath } from '../body/read-request.ts';
import type { TokenUses } from './token-uses.ts';
import { factsOf, refusalOf, type DoorName, type Role } from './roles.ts';

/** Dependencies of admission. */
export interface AdmissionOptions {
  database: Database;
  services: OutsideServices;
  identities: Identities;
  /** Gets each use of a bot's token. */
  tokenUses: Pick<TokenUses, 'note'>;
  /** Requests per token. */
  requests: RateLimit;
  /** Failed authentications per address. */
  failures: RateLimit;
  /** Widget sessions per address. */
  sessions: RateLimit;
  /** Source ids per address and inbox that clients chose, and by which they were not known. */
  guesses: RateLimit;
  /** Attempts to sign in per address. */
  signIns: RateLimit;
  /** Characters of JSON that one address may store. */
  visitorBytes: RateLimit;
  /** Changes per contact token. */
  contactWrites: RateLimit;
}

interface Admission {
  role: Role;
  /** The caller may be known from memory; needs `isProven`. */
  recall: boolean;
  /** The caller is verified again, in the call's first transaction or with its answer (see Proof). */
  isProven?: boolean;
  /** The call may revoke the caller's own token. */
  revokes?: boolean;
  /** The call was admitted before, and counted. */
  isAgain?: boolean;
  /** A ticket in the query admits as well as a token. */
  takesTickets?: boolean;
}

type Admit = (ctx: Context, admission: Admission, options: AdmissionOptions) => Promise<Admitted>;

const byDoor: Record<DoorName, Admit> = {
  account: admitToAccount,
  platform: admitToPlatform,
  visitor: admitVisitor,
  open: admitAnybody,
};

/** Admits the caller by the door of the role. Errors: 400, 401, 403, 404, 429. */
export const admit: Admit = (ctx, admission, options) => byDoor[factsOf(admission.role).door](ctx, admission, options);

async function identify<Found extends { expiresAt: Date | null }>(
  ctx: Context,
  options: AdmissionOptions,
  find: (tokenHash: Buffer) => Promise<Found | null>,
  token: string,
): Promise<Found> {
  // A token that its owner chose may be guessed: beyond the limit the right one is refused as well.
  if (token !== '' && !hasOurPrefix(token)) await options.failures.check(ctx, addressKey(ctx));
  return authenticate(token, find, options.database.clock.now()).catch(async (error: unknown) => {
    if (error instanceof ApiError) await options.failures.consume(ctx, addressKey(ctx));
    throw error;
  });
}

// Identifies the caller by the token in a header, or else by the browser's cookie. A browser may state whom it believes
// to be signed in: if somebody else is, the call is refused.
async function recognize<Found extends { expiresAt: Date | null }>(
  ctx: Context,
  options: AdmissionOptions,
  find: (tokenHash: Buffer) => Promise<Found | null>,
  principalOf: (found: Found) => Principal,
): Promise<Found> {
  const token = tokenOf(ctx);
  if (token !== '') return identify(ctx, options, find, token);
  const browser = browserOf(ctx, options);
  const found = await identify(ctx, options, find, browser.signIn);
  browser.refuseAnother(principalOf(found).id);
  return found;
}

function browserOf(ctx: Context, { services }: AdmissionOptions): Browser {
  return new Browser(ctx, services.publicUrl());
}

async function count(ctx: Context, { role }: Admission, options: AdmissionOptions, { tokenId, kind }: Principal) {
  const { calling } = factsOf(role).limits;
  if (kind === 'agent_bot') options.tokenUses.note(tokenId);
  if (calling) await options[calling].consume(ctx, tokenId);
}

function openCall(ctx: Context, { services, database }: AdmissionOptions) {
  return { services, sql: database.sql, now: database.clock.now(), origin: originOf(ctx) };
}

function outside(database: Database, proof: Proof | null = null): Transact<OuterTransaction> {
  return (work) => transactOutside(database, work, proof);
}

async function admitToAccount(ctx: Context, admission: Admission, options: AdmissionOptions): Promise<Admitted> {
  const { database, identities } = options;
  const call = openCall(ctx, options);
  const accountId = readAccountId(ctx);
  let isRecalled = false;
  const find = async (tokenHash: Buffer): Promise<Identity | null> => {
    const recalled = admission.recall ? identities.recall(tokenHash, accountId) : null;
    // Nobody is refused from memory: who was an agent may be an administrator by now.
    const caller = recalled && callerIn(recalled);
    isRecalled = caller !== null && factsOf(admission.role).admits(caller);
    if (isRecalled) return recalled;
    return identities.read(call.sql, tokenHash, accountId);
  };
  const ticket = admission.takesTickets ? ticketOf(ctx) : null;
  const identity = await (ticket === null
    ? recognize(ctx, options, find, ({ principal }) => principal)
    : identify(ctx, options, (ticketHash) => findByTicket({ ticketHash, accountId }, call, find), ticket));
  const { principal } = identity;
  if (!admission.isAgain) await count(ctx, admission, options, principal);
  const params = readPath(ctx.params);
  const holds: Holds = (sql, lock) =>
    isUnchanged(sql, identity, { now: database.clock.now(), lock: lock ? 'share' : null });
  const proof = admission.isProven ? new Proof(holds, () => identities.forget(identity)) : null;
  const scope = {
    ...enterAccount(identity, admission.role, depthOf(ctx, accountId, options.services.secretBox)),
    proof,
  };
  const transactHere: Transact = (work) => transact(database, scope, work);
  return { ...call, principal, identity, params, ...scope, transact: transactHere };
}

// A token in a header goes before a ticket, which would be used up.
function ticketOf(ctx: Context): string | null {
  return tokenOf(ctx) === '' ? new URLSearchParams(ctx.querystring).get('ticket') : null;
}

async function findByTicket(
  ticket: { ticketHash: Buffer; accountId: number | null },
  { sql, now }: ReturnType<typeof openCall>,
  find: (tokenHash: Buffer) => Promise<Identity | null>,
): Promise<Identity | null> {
  const tokenHash = await redeemStreamTicket(sql, ticket, now);
  return tokenHash && find(tokenHash);
}

// The path is read after the authentication; nobody belongs to an account whose id is none.
function readAccountId(ctx: Context): number | null {
  const id = Number((ctx.params as Record<string, string>)['account_id']);
  return Number.isSafeInteger(id) ? id : null;
}

async function admitToPlatform(ctx: Context, admission: Admission, options: AdmissionOptions): Promise<Admitted> {
  const call = openCall(ctx, options);
  const { database } = options;
  let tokenHash: Buffer = Buffer.alloc(0);
  const find = (hash: Buffer): Promise<Principal | null> => findPrincipal(call.sql, (tokenHash = hash));
  const principal = await recognize(ctx, options, find, (found) => found);
  if (!admission.isAgain) await count(ctx, admission, options, principal);
  const params = readPath(ctx.params);
  const caller = { ...principal, role: null };
  if (!factsOf(admission.role).admits(caller)) throw forbidden(refusalOf(admission.role, caller));
  const known = { tokenHash, principal };
  const strength = admission.revokes ? 'update' : 'share';
  const holds: Holds = (sql, lock) =>
    isSamePrincipal(sql, known, { now: database.clock.now(), lock: lock ? strength : null });
  const proof = admission.isProven ? new Proof(holds) : null;
  return { ...call, principal, proof, params, transact: outside(database, proof) };
}

async function admitAnybody(ctx: Context, { role }: Admission, options: AdmissionOptions): Promise<Admitted> {
  const { arriving } = factsOf(role).limits;
  if (arriving) await options[arriving].consume(ctx, addressKey(ctx));
  const browser = browserOf(ctx, options);
  return { ...openCall(ctx, options), params: readPath(ctx.params), browser, transact: outside(options.database) };
}
