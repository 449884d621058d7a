import { createRequire } from 'node:module';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { stopLoop } from '../../domain/bots/suspension.ts';
import { ApiError, tooLarge } from '../../errors.ts';
import { transact, type Transact } from '../../events/transaction.ts';
import { assertShape } from '../../schemas.ts';
import { admit, type AdmissionOptions } from './admission/admit.ts';
import type { Admitted, AnyCall } from './call.ts';
import { performAudited } from './audit.ts';
import { auditOf, type Audited } from './audited.ts';
import { entityTag, isUnchanged } from '../conditional/entity-tag.ts';
import { findAnswer, onlyOnce, readKeyedRequest, type Answer } from '../conditional/idempotency.ts';
import { pagePolicy } from './page-policy.ts';
import { readIfMatch, requireMatch } from '../conditional/if-match.ts';
import { pageLinks } from './link-header.ts';
import { answerProven } from './admission/proof.ts';
import { isIdParameter, parameterNames } from './record-route.ts';
import { inFirstBatch } from './first-batch.ts';
import { inOneTransaction } from './one-transaction.ts';
import type { Arrivals } from '../server/limits/arrivals.ts';
import { addressKey, type RateLimit } from '../server/limits/rate-limit.ts';
import { readCheckedBody, readQuery, type BodyLimits } from './body/read-request.ts';
import { isForm } from './body/read-body.ts';
import { factsOf } from './admission/roles.ts';
import { Unchanged, type Contract, type Route, type Steps } from './route.ts';
import { serveStream } from './serve-stream.ts';
import type { FairGate, Party } from '../server/limits/fair-gate.ts';
import type { Arrival, UploadGate } from '../server/limits/upload-gate.ts';
import { traitsOf, type Traits } from './traits.ts';

export interface MountOptions extends AdmissionOptions {
  /** Limits how many admitted requests use the database at the same time. */
  gate: FairGate;
  /** Limits how many forms with files are held in memory at the same time. */
  uploads: UploadGate;
  /** Knows which forms may take their time to arrive. */
  arrivals: Arrivals;
  /** Bytes of files that contacts at one address may send, counted before they arrive where their form says its length. */
  visitorUploads: RateLimit;
  bodyLimits: BodyLimits;
  /** Whether every reply is checked against its schema: in tests, since a violation is a defect of the service. */
  checkReplies: boolean;
}

/** A route with what serving it needs. */
interface Served {
  route: Route;
  traits: Traits;
  audited: Audited | null;
  options: MountOptions;
}

// Its other build imports node:http, which lib/node-http.ts avoids.
const { Router: KoaRouter } = createRequire(import.meta.url)('@koa/router') as { Router: typeof Router };
// The JSON of cacheable replies, which are always the same object.
const written = new WeakMap<object, string>();

/** The name of a route's layer in the router. */
export function layerName({ method, path }: Route): string {
  return `${method} ${path}`;
}

/** Koa middleware that serves the routes: admission, validation by each route's contract, handler, answer. */
export function mount(routes: readonly Route[], options: MountOptions): Router {
  const router = new KoaRouter({ sensitive: true });
  for (const route of routes.toSorted(bySpecificity)) {
    const served: Served = { route, traits: traitsOf(route, routes), audited: auditOf(route, routes), options };
    const layer = { name: layerName(route), sensitive: true };
    router.register(route.path, methodsOf(route), [(ctx: Context) => serveChecked(ctx, served)], layer);
  }
  return router;
}

// Many clients of such APIs send PUT where only some fields change. It is not published: PATCH says what happens.
function methodsOf({ method, path }: Route): string[] {
  return method === 'PATCH' && isIdParameter(parameterNames(path.replace(/^.*\//, ''))[0] ?? '')
    ? ['PATCH', 'PUT']
    : [method];
}

async function serveChecked(ctx: Context, served: Served): Promise<void> {
  try {
    await serve(ctx, served);
  } catch (error) {
    if (served.options.checkReplies) assertTold(error, served);
    throw error;
  }
}

async function serve(ctx: Context, served: Served): Promise<void> {
  const { route, traits, options } = served;
  ctx.state.isForPeople = route.contract.forPeople === true;
  if (route.contract.stream) return serveStream(ctx, route, options);
  const reply = await reach(ctx, served);
  if (reply.replayed) ctx.set('idempotency-replayed', 'true');
  if (route.contract.cacheable) ctx.set('cache-control', 'no-cache');
  if (traits.tagged && isUnchanged(ctx, entityTag(reply.body))) {
    ctx.status = 304;
    return;
  }
  ctx.status = reply.status;
  ctx.type ||= 'json';
  ctx.body = reply.body;
}

// A call that changes something verifies its caller in its transaction, so until then the caller may be known from memory.
async function reach(ctx: Context, served: Served): Promise<Answer> {
  const { route, options } = served;
  const { role, revokes = false } = route.contract;
  const recall = route.method !== 'GET';
  const isProven = recall || preparationOf(ctx, route) !== undefined;
  const admitted = await admit(ctx, { role, recall, isProven, revokes }, options);
  if (!route.contract.withFiles || !isForm(ctx) || !('account' in admitted)) return reachAs(ctx, admitted, served);
  const visitorAt = factsOf(role).limits.storing ? addressKey(ctx) : null;
  const paid = visitorAt === null ? 0 : await payAhead(ctx, visitorAt, options);
  const uploader = { accountId: admitted.account.id, visitorAt };
  return options.uploads.run(uploader, (arrival) => reachAs(ctx, admitted, served, { arrival, paid }));
}

/** A form with files that takes a place, and the bytes of it that were counted before. */
interface Form {
  arrival: Arrival;
  paid: number;
}

// Before it takes a place, so that who sends little by little pays for all of it at once. A form of a few words costs nothing.
async function payAhead(ctx: Context, address: string, { visitorUploads, bodyLimits }: MountOptions): Promise<number> {
  const bytes = ctx.request.length ?? 0;
  if (bytes > bodyLimits.maxFormBytes) throw tooLarge(bodyLimits.maxFormBytes);
  const paid = Math.max(0, bytes - bodyLimits.formBytes);
  if (paid > 0) await visitorUploads.spend(ctx, address, paid);
  return paid;
}

async function reachAs(ctx: Context, admitted: Admitted, served: Served, form: Form | null = null): Promise<Answer> {
  const { role, revokes = false } = served.route.contract;
  const sending = readSent(ctx, served, form);
  const again = { role, recall: false, isProven: true, isAgain: true, revokes };
  return answerProven(admitted, {
    readmit: () => admit(ctx, again, served.options),
    answer: async (caller) => answer(ctx, { ...caller, ...(await sending) }, served),
  });
}

async function readSent(ctx: Context, { route: { contract }, options }: Served, form: Form | null) {
  const query = contract.query && readQuery(ctx.querystring, contract.query);
  if (isUpload(ctx, contract)) options.arrivals.allowUpload(ctx.req);
  const terms = { limits: options.bodyLimits, arrival: form?.arrival ?? null };
  const { body, files } = await readCheckedBody(ctx, contract, terms);
  const { storing } = factsOf(contract.role).limits;
  if (storing && body) await options[storing].spend(ctx, addressKey(ctx), JSON.stringify(body).length);
  const owed = files.reduce((sum, { bytes }) => sum + bytes.length, 0) - (form?.paid ?? 0);
  if (storing && owed > 0) await options.visitorUploads.spend(ctx, addressKey(ctx), owed);
  return { query, body, files };
}

function isUpload(ctx: Context, { upload, withFiles }: Contract): boolean {
  return isForm(ctx) && (upload !== undefined || withFiles !== undefined);
}

// Where files may be sent, only what comes as a form has any.
function preparationOf(ctx: Context, { contract, steps }: Route): Steps<AnyCall, unknown, unknown>['prepare'] {
  return contract.withFiles && !isForm(ctx) ? undefined : steps.prepare;
}

// The preparation may be slow, so it holds no place in the gate; all work on the database does.
async function answer(ctx: Context, call: AnyCall, served: Served): Promise<Answer> {
  const { route, options } = served;
  const parties = partiesOf(ctx, call, served);
  const inside = <Result>(work: () => Promise<Result>): Promise<Result> =>
    route.contract.needsNoDatabase ? work() : options.gate.run(parties, work);
  const prepare = preparationOf(ctx, route);
  if (prepare) {
    const kept = await inside(async () => {
      // Preparations store files, and ask other systems in the caller's name.
      if ('proof' in call) await call.proof?.check(call.sql);
      return findKeptAnswer(ctx, call, served);
    });
    if (kept) return kept;
  }
  const read = <Found>(find: (sql: AnyCall['sql']) => Promise<Found>) => inside(() => find(call.sql));
  const prepared = await prepare?.({ ...call, services: options.services, read });
  return inside(async () => {
    try {
      return await perform(ctx, call, prepared, served);
    } catch (error) {
      const after = unproven(call, options);
      await route.steps.refused?.(error, after, prepared);
      if ('actor' in after) await stopLoop(after.transact, { error, actor: after.actor });
      throw error;
    }
  });
}

// Cleaning up after a refusal needs no right.
function unproven(call: AnyCall, { database }: MountOptions): AnyCall {
  if (!('proof' in call && 'account' in call)) return call;
  const { account, actor } = call;
  const transactHere: Transact = (work) => transact(database, { account, actor }, work);
  return { ...call, transact: transactHere };
}

function partiesOf(ctx: Context, call: AnyCall, { route, options: { gate } }: Served): Party[] {
  const { share } = factsOf(route.contract.role);
  if ('account' in call) return gate.ofAccount(call.account.id, { visitor: share === 'visitors' });
  return gate.ofCaller('principal' in call ? `token ${call.principal.tokenId}` : `address ${addressKey(ctx)}`);
}

// With a key, a condition or an entry of the audit log the whole handler is one transaction: the key's row and the entry commit
// together with what the request changed, and the condition holds until the commit.
async function perform(ctx: Context, call: AnyCall, prepared: unknown, served: Served): Promise<Answer> {
  const { database, services } = served.options;
  const ifMatch = readIfMatch(ctx);
  const request = keyedRequest(ctx, call, served.route);
  if (ifMatch === null && !request && !served.audited) return handle(ctx, { call, prepared }, served);
  if (!request && served.route.contract.inBatches) {
    const beginning = { ifMatch, record: served.traits.record, audited: served.audited };
    return handle(ctx, { call: inFirstBatch(beginning, call, database), prepared }, served);
  }
  const view = ifMatch === null ? 'moving' : 'frozen';
  return inOneTransaction(database, { call, view }, async (held) => {
    const run = async () => {
      if (ifMatch !== null) await requireMatch(ifMatch, held, served.traits.record);
      return handleAudited(ctx, { call: held, prepared }, served);
    };
    return request ? onlyOnce({ request, box: services.secretBox, sql: held.sql, now: held.now }, run) : run();
  });
}

function handleAudited(ctx: Context, one: { call: AnyCall; prepared: unknown }, served: Served): Promise<Answer> {
  const { audited, route } = served;
  if (!audited) return handle(ctx, one, served);
  return performAudited(audited, one.call, async () => {
    const made = await handle(ctx, one, served);
    const isDone = route.contract.unchanged !== true || made.status === route.contract.status;
    return { result: made, reply: isDone ? JSON.parse(made.body) : null, isDone };
  });
}

async function handle(
  ctx: Context,
  { call, prepared }: { call: AnyCall; prepared: unknown },
  { route, traits, options }: Served,
): Promise<Answer> {
  const made = (await route.steps.handle(call, prepared)) ?? {};
  const [reply, status] = made instanceof Unchanged ? [made.reply, 200] : [made, route.contract.status ?? 200];
  if (options.checkReplies) assertShape(route.contract.reply, reply);
  const links = traits.paged ? pageLinks(reply, ctx.path, ctx.querystring) : null;
  if (links) ctx.set('link', links);
  if (typeof reply === 'string') {
    ctx.type = 'html';
    ctx.set('content-security-policy', pagePolicy);
  }
  return { status, body: write(reply, route.contract), replayed: false };
}

function write(reply: unknown, { cacheable }: Contract): string {
  // A reply that is text is an HTML page.
  if (typeof reply === 'string') return reply;
  const body = (cacheable && written.get(reply as object)) ?? JSON.stringify(reply);
  if (cacheable) written.set(reply as object, body);
  return body;
}

function keyedRequest(ctx: Context, call: AnyCall, { contract }: Route) {
  return contract.keyed === false || contract.countsTries ? null : readKeyedRequest(ctx, call);
}

// Looked up before the preparation: a repeated request needs none, and its preparation could fail by now.
async function findKeptAnswer(ctx: Context, call: AnyCall, { route, options }: Served): Promise<Answer | null> {
  const request = route.steps.prepare ? keyedRequest(ctx, call, route) : null;
  return request && findAnswer(request, options.services.secretBox, call);
}

// The published contract lists every status of refusals; 412 is also the answer to a condition where none is supported.
function assertTold(error: unknown, { route, traits }: Served): void {
  if (!(error instanceof ApiError) || error.status === 412 || traits.errors.includes(error.status)) return;
  const { method, path } = route;
  throw new Error(`${method} ${path} answered ${error.status}, which is not in its contract: see Contract.errors`);
}

// Literal path segments first, so that `/contacts/search` is not `/contacts/:id`.
function bySpecificity(one: Route, other: Route): number {
  const [left, right] = [one, other].map(({ path }) => path.replaceAll(/:\w+/g, '\uffff'));
  return String(left) < String(right) ? -1 : Number(left !== right);
}
