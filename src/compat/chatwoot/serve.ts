import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { ApiError } from '../../errors.ts';
import { hasTooManyParameters } from '../../http/route/body/read-request.ts';
import { readBodyAs } from '../../http/route/body/translated-body.ts';
import { pageLinks } from '../../http/route/link-header.ts';
import { tokenOf } from '../../http/route/admission/authenticate.ts';
import { errorBody } from '../../http/server/refusals/answer-errors.ts';
import type { Ask } from '../../http/server/ask.ts';
import { isObject, objectOf } from './json.ts';
import { OperationTable, type Asked, type CheckUrl, type Json, type Operation } from './operation.ts';
import { operations } from './operations.ts';
import { theirRefusal } from './refusals.ts';

const prefix = '/chatwoot';
const apis = /^\/(?:api|public\/api|platform\/api)(?:\/|$)/;
const table = new OperationTable(operations);
/** Operation that translates nothing, for requests that are not in the table. */
const asOurs: Operation = { method: 'GET', path: '' };

/**
 * Koa middleware that serves the API under `/chatwoot` as Chatwoot does, for clients that are made for Chatwoot: it translates
 * requests before our routes, and answers after them. The routes know nothing of this: admission, limits, keys and the walls
 * between accounts are theirs. Operations that are not in the table work as ours do, except for the general rules:
 *
 * | Chatwoot | here |
 * |---|---|
 * | 200 after a creation | 200 |
 * | 401 for a forbidden operation | 401; a 403 with a reason of its own (`bot_suppressed`, `contact_blocked`) stays |
 * | 500 for a value that is not in a list | 422, as for every refused value |
 * | an unknown id in an assignment removes the assignee | 404 |
 * | `team_id` is ignored beside `assignee_id` | both are applied |
 * | text in place of a number is read up to its first other character | 422: ids consist of digits |
 * | the text of a message and the end of a snooze are optional | 422: `content`, `snoozed_until` are required |
 * | labels are any words, by anybody | lowercase; missing ones are created, all or none, if the caller may, otherwise 422 |
 * | one person has one id in all accounts | the `id` of the profile is that of the agent in the first account |
 * | kinds of messages such as `form` | text, with the kind in `content_attributes.chatwoot`, answered as the original kind |
 * | `contacts/active` lists connected contacts | contacts who wrote in the last five minutes |
 * | conversations of inboxes with a bot are pending | they have the requested status |
 * | an inbox of the API has a `webhook_url` | a webhook of the inbox, `API channel`, is created, changed and disabled too |
 * | one request counts once | an operation that takes several requests here counts as several |
 * | 429 in plain text | 429 in JSON, with `Retry-After` |
 * | automation rules, portals, integrations, reports | 404 |
 */
export function serveChatwoot(ports: Ports): Middleware {
  return async (ctx, next) => {
    const path = readPath(ctx.path);
    if (path === null) {
      await next();
      return;
    }
    const { operation, params } = table.find(ctx.method, path) ?? { operation: asOurs, params: {} };
    const said = { path: ctx.path, query: ctx.querystring };
    const asked = translate(ctx, { path, operation, params }, ports);
    await next();
    if (ctx['_matchedRoute']) ctx['_matchedRoute'] = `${prefix}${String(ctx['_matchedRoute'])}`;
    await answer(ctx, { operation, asked, said });
  };
}

// A known client leaves out /api/v1 when it requests the members of teams.
function readPath(path: string): string | null {
  if (!path.startsWith(`${prefix}/`)) return null;
  const rest = path.slice(prefix.length).replace(/(?<=[^/])\/$/, '');
  const own = rest.startsWith('/accounts/') ? `/api/v1${rest}` : rest;
  return apis.test(own) ? own : null;
}

interface Ports {
  ask: Ask;
  checkUrl: CheckUrl;
  uuid: () => string;
  now: () => Date;
}

interface Found {
  path: string;
  operation: Operation;
  params: Record<string, string>;
}

function translate(ctx: Context, { path, operation, params }: Found, { ask, checkUrl, uuid, now }: Ports): Asked {
  const { method: theirs } = ctx;
  const asked: Asked = {
    path,
    account: /^\/api\/v1\/accounts\/[^/]+/.exec(path)?.[0] ?? '',
    params,
    query: new URLSearchParams(ctx.querystring),
    sent: {},
    checkUrl,
    uuid,
    now,
    isReplayed: () => ctx.response.get('idempotency-replayed') === 'true',
    ask: (method, asking, body) =>
      ask(ctx, { method, path: asking, ...(body ? { body } : {}), ...derivedKey(ctx, theirs, [method, asking, body]) }),
  };
  if (operation.instead !== undefined) {
    callInstead(ctx, fill(operation.instead, params));
    return asked;
  }
  const query = readQuery(ctx, operation, asked.query);
  ctx.url = query === '' ? asked.path : `${asked.path}?${query}`;
  if (operation.untagged) delete ctx.req.headers['if-none-match'];
  readBodyAs(ctx, (body) => readBody(body, operation, asked));
  return asked;
}

// Bodies are for the answer alone: routes for GET read none.
function callInstead(ctx: Context, url: string): void {
  if (ctx.method !== 'HEAD') ctx.method = 'GET';
  ctx.url = url;
  for (const name of ['if-none-match', 'idempotency-key', 'if-match']) delete ctx.req.headers[name];
}

function fill(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? '');
}

// Requests that an answer makes have keys too, so that a repeated request does not do their work twice.
function derivedKey({ req, originalUrl }: Context, theirs: string, parts: [string, string, unknown]): { key?: string } {
  const { 'idempotency-key': key } = req.headers;
  if (typeof key !== 'string' || theirs !== 'POST' || parts[0] !== 'POST') return {};
  return {
    key: createHash('sha256')
      .update(JSON.stringify([key, originalUrl, ...parts]))
      .digest('hex'),
  };
}

// Queries without a translation are passed on as they were written, perhaps malformed. The route refuses too many parameters.
function readQuery({ querystring }: Context, operation: Operation, query: URLSearchParams): string {
  if (!operation.query || hasTooManyParameters(query)) return querystring;
  operation.query(query);
  return query.toString();
}

async function readBody(body: unknown, operation: Operation, asked: Asked): Promise<unknown> {
  const sent = unwrap(body, operation.wrapper);
  if (!isObject(sent)) return sent;
  asked.sent = sent;
  return operation.body ? operation.body(sent, asked) : sent;
}

function unwrap(body: unknown, wrapper: string | undefined): unknown {
  if (wrapper === undefined || !isObject(body)) return body;
  return isObject(body[wrapper]) ? body[wrapper] : body;
}

interface Answered {
  operation: Operation;
  asked: Asked;
  /** The request's path and query in Chatwoot's terms. */
  said: { path: string; query: string };
}

async function answer(ctx: Context, { operation, asked, said }: Answered): Promise<void> {
  if (ctx.status === 201) ctx.status = 200;
  if (typeof ctx.body !== 'string' || ctx.response.type !== 'application/json') return;
  if (ctx.status >= 400) return refuse(ctx, objectOf(JSON.parse(ctx.body)));
  if (operation.untagged || operation.instead !== undefined) ctx.remove('etag');
  if (operation.instead !== undefined) ctx.remove('link');
  if (ctx.response.get('link')) linkAsSaid(ctx, said);
  if (!operation.answer) return;
  try {
    ctx.body = JSON.stringify(await operation.answer(JSON.parse(ctx.body) as never, asked));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    ctx.status = error.status;
    ctx.set(error.headers);
    refuse(ctx, { ...errorBody(error, ctx.state.requestId as string) });
  }
}

// Links carry the client's query: ours would be translated once more with the next page.
function linkAsSaid(ctx: Context, { path, query }: Answered['said']): void {
  const links = pageLinks(JSON.parse(ctx.body as string), path, query);
  if (links === null) ctx.remove('link');
  else ctx.set('link', links);
}

function refuse(ctx: Context, body: Json): void {
  const refusal = theirRefusal({
    status: ctx.status,
    body,
    isRouted: Boolean(ctx['_matchedRoute']),
    hasToken: tokenOf(ctx) !== '',
    isPublic: ctx.path.startsWith('/public/'),
  });
  ctx.status = refusal.status;
  ctx.body = JSON.stringify(refusal.body);
}
