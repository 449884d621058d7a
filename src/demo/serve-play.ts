import type { Context, Middleware, Next } from 'koa';
import { findMemberships } from '../domain/people/identity.ts';
import { badRequest, forbidden, invalid } from '../errors.ts';
import { admit } from '../http/route/admission/admit.ts';
import type { MountOptions } from '../http/route/mount.ts';
import { decodeBody, readBody } from '../http/route/body/read-body.ts';
import { methodNotAllowed } from '../http/server/refusals/method.ts';
import { addressKey } from '../http/server/limits/rate-limit.ts';
import { isHook } from './endpoint.ts';
import { playModes, type KeptPost, type PlayMode } from './receiver.ts';
import type { ReceiverServer } from './receiver-server.ts';
import { takePost } from './take-post.ts';

/** The answer of `GET /play/requests` and `PUT /play/mode`. */
export interface PlayState {
  mode: PlayMode;
  modes: readonly PlayMode[];
  /** The URL that a webhook to the receiver has, or begins with. */
  url: string;
  /** Why no post can arrive; null while all is well. */
  problem: string | null;
  /** Newest first; those with a higher id than `after` of the query. */
  payload: KeptPost[];
}

interface PlayOptions {
  server: ReceiverServer;
  /** The receiver's URL for webhooks. */
  url: string;
  /** How calls of the API are admitted. */
  mounted: MountOptions;
}

interface Viewer {
  isPlatformAdmin: boolean;
  accounts: ReadonlySet<number>;
}

const modeBytes = 1024;

/**
 * Koa middleware of the built-in receiver: `POST /play/hooks` takes posts from anybody, `GET /play/requests` and `PUT
 * /play/mode` are for administrators. No part of the API, and there with the demonstration data only. Errors: 400, 401,
 * 403, 405, 415, 422, 429.
 */
export function servePlay(options: PlayOptions): Middleware {
  const operations: Record<string, { method: string; serve: (ctx: Context) => Promise<PlayState> }> = {
    '/play/requests': { method: 'GET', serve: (ctx) => showPosts(ctx, options) },
    '/play/mode': { method: 'PUT', serve: (ctx) => setMode(ctx, options) },
  };
  return async (ctx: Context, next: Next): Promise<void> => {
    if (isHook(ctx.path)) return takeHook(ctx, options);
    const operation = operations[ctx.path];
    if (!operation) return next();
    ctx['_matchedRoute'] = ctx.path;
    const { method, serve } = operation;
    if (ctx.method !== method) throw methodNotAllowed([method]);
    ctx.body = await serve(ctx);
  };
}

async function takeHook(ctx: Context, { server, mounted }: PlayOptions): Promise<void> {
  ctx['_matchedRoute'] = '/play/hooks';
  if (ctx.method !== 'POST') throw methodNotAllowed(['POST']);
  await mounted.requests.consume(ctx, `play ${addressKey(ctx)}`);
  const status = await takePost(server.receiver, ctx.path, { request: ctx.req, response: ctx.res });
  ctx.body = '';
  ctx.status = status;
}

async function showPosts(ctx: Context, options: PlayOptions): Promise<PlayState> {
  const viewer = await admitAdministrator(ctx, options);
  const after = new URLSearchParams(ctx.querystring).get('after') ?? '0';
  if (!/^\d{1,15}$/.test(after)) throw badRequest('bad_query', '`after` must be the number of a request');
  return stateFor(viewer, Number(after), options);
}

async function setMode(ctx: Context, options: PlayOptions): Promise<PlayState> {
  await admitAdministrator(ctx, options);
  const body = decodeBody(await readBody(ctx, { limitBytes: modeBytes, types: ['application/json'] }));
  const { mode } = (typeof body === 'object' && body !== null ? body : {}) as { mode?: unknown };
  const known = playModes.find((one) => one === mode);
  // The token may have been revoked while the body arrived.
  const viewer = await admitAdministrator(ctx, options, true);
  if (!known) throw invalid('/mode', 'enum', `\`mode\` must be one of ${playModes.join(', ')}`);
  options.server.receiver.mode = known;
  return stateFor(viewer, 0, options);
}

async function admitAdministrator(ctx: Context, { mounted }: PlayOptions, isAgain = false): Promise<Viewer> {
  // Which router would set.
  ctx['params'] = {};
  const call = await admit(ctx, { role: 'user', recall: false, isAgain }, mounted);
  const { id, tokenId, platformAdmin } = (call as Extract<typeof call, { principal: unknown }>).principal;
  const memberships = await mounted.gate.run(mounted.gate.ofCaller(`token ${tokenId}`), () =>
    findMemberships(call.sql, id),
  );
  const administered = memberships.filter(({ role }) => role === 'administrator');
  if (administered.length === 0 && !platformAdmin) throw forbidden('Only administrators may do this');
  return { isPlatformAdmin: platformAdmin, accounts: new Set(administered.map(({ account }) => account.id)) };
}

// Leaves out posts of other accounts' webhooks, and posts that only claim to come from them.
async function stateFor(viewer: Viewer, after: number, { server, url }: PlayOptions): Promise<PlayState> {
  const { receiver, problem } = server;
  const isFor = ({ account_id: id }: KeptPost) => viewer.isPlatformAdmin || id === null || viewer.accounts.has(id);
  const posts = await receiver.postsAfter(after);
  return { mode: receiver.mode, modes: playModes, url, problem, payload: posts.filter(isFor) };
}
