import type { Context, Middleware, Next } from 'koa';
import { findHook, HookGone, type FoundHook } from '../../../domain/hooks/find.ts';
import { keepRefusal, storedBytes, storeHookRequest } from '../../../domain/hooks/receive.ts';
import { readPlace, type ReadHookRequest } from '../../../domain/hooks/places.ts';
import type { WaitingBytes } from '../../../domain/hooks/waiting-bytes.ts';
import { ApiError } from '../../../errors.ts';
import { system, transact } from '../../../events/transaction.ts';
import { hashToken, looksForged } from '../../../lib/secrets/tokens.ts';
import { usualMaxBytes, type HookHandler } from '../../../packages/manifest/hooks.ts';
import type { MountOptions } from '../../route/mount.ts';
import type { Party } from '../limits/fair-gate.ts';
import type { Arrival } from '../limits/upload-gate.ts';
import { addressKey, type RateLimit } from '../limits/rate-limit.ts';
import type { AmazonSns } from './amazon.ts';
import { answerMeta, slackChallenge } from './challenges.ts';
import { shownHeaders } from './headers.ts';
import { notReady, readArrived, refused } from './read-request.ts';
import { verify } from './verify.ts';

/** Outcomes of requests, for metrics. */
export type HookOutcome = 'accepted' | 'duplicate' | 'refused' | 'challenge';

export interface HookOptions {
  /** Requests per token. */
  requests: RateLimit;
  /** Rows per hook that are kept of requests of which nothing else is stored. */
  facts: RateLimit;
  waiting: WaitingBytes;
  amazon: AmazonSns;
  count: (outcome: HookOutcome) => void;
}

/** A request of a hook that serves. */
interface Call {
  ctx: Context;
  hook: FoundHook;
  handler: HookHandler;
  tokenHash: Buffer;
}

const path = '/hooks/';
const lookUpsAtOnce = 4;
const lookUps: Party = { name: 'look-ups of hooks', most: lookUpsAtOnce, isCrowd: true };

/**
 * Koa middleware that takes requests of other systems, `POST /hooks/:token`: verified over the bytes that came, stored once,
 * answered after the commit; the run follows. What is wrong on our side is answered 429 or 503, since senders give up after other
 * refusals. Errors: 400, 401, 404, 413, 415, 429, 503.
 */
export function receiveHooks(mounted: MountOptions, options: HookOptions): Middleware {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (!ctx.path.startsWith(path)) return next();
    // The path holds the token, which belongs into no log.
    ctx['_matchedRoute'] = `${path}:token`;
    const token = ctx.path.slice(path.length);
    if (!token.startsWith('swh_') || looksForged(token) || !['GET', 'POST'].includes(ctx.method)) return next();
    const tokenHash = hashToken(token);
    const { database, gate } = mounted;
    const hook = await gate.run(lookUpsOf(ctx), () => findHook(database.sql, tokenHash, database.clock.now()));
    if (!hook) return next();
    // Counted for tokens that exist: guesses would fill the memory.
    await options.requests.spend(ctx, tokenHash.toString('hex'), 1);
    if (ctx.method === 'POST') return receive({ ctx, hook, tokenHash }, mounted, options).catch(orUnknown(next));
    // Only Meta asks by GET: for all others there is nothing here, as for an unknown token.
    if (hook.handler?.verify !== 'meta') return next();
    answerMeta(ctx, hook, hook.handler, mounted.services.secretBox);
    options.count('challenge');
  };
}

// An address that guesses leaves the next place to others.
function lookUpsOf(ctx: Context): Party[] {
  return [lookUps, { name: `look-ups of hooks from ${addressKey(ctx)}`, most: lookUpsAtOnce }];
}

// The token stopped to serve while the body arrived: answered as all that never did.
function orUnknown(next: Next): (error: unknown) => Promise<void> {
  return async (error) => {
    if (error instanceof HookGone) return void (await next());
    throw error;
  };
}

async function receive(
  { ctx, hook, tokenHash }: Omit<Call, 'handler'>,
  mounted: MountOptions,
  options: HookOptions,
): Promise<void> {
  try {
    if (!hook.handler) throw refused(notReady(), 'no_handler');
    await takeInPlace({ ctx, hook, tokenHash, handler: hook.handler }, mounted, options);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    options.count('refused');
    await note(hook, error, ctx, { mounted, options });
    throw error;
  }
}

// A large body has one of the places of uploads for as long as it is in memory, and their time to arrive.
function takeInPlace(call: Call, mounted: MountOptions, options: HookOptions): Promise<void> {
  const { ctx, hook, handler } = call;
  const isSmall = handler.maxBytes <= usualMaxBytes || Number(ctx.get('content-length') || Infinity) <= usualMaxBytes;
  if (isSmall) return takeIn({ ...call, arrival: null }, mounted, options);
  mounted.arrivals.allowUpload(ctx.req);
  const uploader = { accountId: hook.account.id, visitorAt: addressKey(ctx) };
  return mounted.uploads.run(uploader, (arrival) => takeIn({ ...call, arrival }, mounted, options));
}

async function takeIn(
  { ctx, hook, handler, tokenHash, arrival }: Call & { arrival: Arrival | null },
  mounted: MountOptions,
  options: HookOptions,
): Promise<void> {
  const { database, gate, services } = mounted;
  const arrived = await readArrived(ctx, handler, arrival);
  const { amazon } = options;
  const message = await verify(ctx, arrived, { hook, handler, services, amazon, now: database.clock.now() });
  if (message !== null && message.type !== 'Notification') {
    if (message.subscribeUrl !== null) await amazon.confirm(message.subscribeUrl, hook.id);
    options.count('challenge');
    return answerText(ctx, '');
  }
  const json = arrived.json();
  const challenge = handler.verify === 'slack' ? slackChallenge(json) : null;
  if (challenge !== null) {
    options.count('challenge');
    return answerText(ctx, challenge);
  }
  const stored = await gate.run(gate.ofHooks(hook.account.id), async () => {
    const request = requestOf(ctx, { ...arrived, json }, handler);
    if (!(await options.waiting.admits(database.sql, hook.account.id, storedBytes(request)))) throw tooMuchWaits();
    const keepsFacts = () => hasRoom(options.facts, hook);
    return transact(database, { account: hook.account, actor: system }, (tx) =>
      storeHookRequest(tx, hook, { ...request, tokenHash, keepsFacts }),
    );
  });
  options.count(stored.isDuplicate ? 'duplicate' : 'accepted');
  answer(ctx, handler, stored.isDuplicate ? { id: stored.id, duplicate: true } : { id: stored.id });
}

function requestOf(ctx: Context, arrived: ReadHookRequest, handler: HookHandler) {
  const { body } = arrived;
  return {
    headers: shownHeaders(ctx.req),
    body,
    requestId: readPlace(handler.id, arrived),
    key: readPlace(handler.key, arrived),
  };
}

function answer(ctx: Context, handler: HookHandler, reply: { id: number; duplicate?: true }): void {
  ctx.status = handler.answer;
  // Twilio reads the answer as instructions.
  if (handler.verify === 'twilio') {
    ctx.type = 'text/xml';
    ctx.body = '<Response/>';
    return;
  }
  ctx.type = 'json';
  ctx.body = JSON.stringify(reply);
}

function answerText(ctx: Context, text: string): void {
  ctx.status = 200;
  ctx.type = 'text/plain';
  ctx.body = text;
}

function tooMuchWaits(): ApiError {
  return refused(
    new ApiError(429, 'too_much_waits', 'Too much waits to be handled: try again later', {
      headers: { 'retry-after': '30' },
    }),
    'too_much_waits',
  );
}

// Bounded for each hook: a sender of nonsense, or of the same again and again, has a row a second stored at most.
function hasRoom(facts: RateLimit, hook: FoundHook): Promise<boolean> {
  return facts.take(hook.id).then(
    () => true,
    () => false,
  );
}

async function note(
  hook: FoundHook,
  error: ApiError,
  ctx: Context,
  { mounted, options }: { mounted: MountOptions; options: HookOptions },
): Promise<void> {
  if (!(await hasRoom(options.facts, hook))) return;
  const bytes = Math.min(Number(ctx.get('content-length')) || 0, 2 ** 31 - 1);
  const reason = refused.reasonOf(error);
  await mounted.gate.run(mounted.gate.ofHooks(hook.account.id), () =>
    transact(mounted.database, { account: hook.account, actor: system }, (tx) =>
      keepRefusal(tx, hook, { reason, bytes }),
    ),
  );
}
