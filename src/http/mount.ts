import Router from '@koa/router';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Context } from 'koa';
import type { Principal } from '../domain/identity.ts';
import { ApiError, badRequest, notFound, type ErrorDetail } from '../errors.ts';
import { transact } from '../events/transaction.ts';
import { assertShape, findProblems, findQueryProblems, type SchemaName } from '../schemas.ts';
import { authenticate, enterAccount } from './authenticate.ts';
import type { RateLimit } from './rate-limit.ts';
import { readBody } from './read-body.ts';
import type { Call, Route, Services } from './route.ts';

export interface MountOptions {
  services: Services;
  bodyLimitBytes: number;
  /** Requests per token. */
  requests: RateLimit;
  /** Failed authentications per address. */
  failures: RateLimit;
  /** Whether every answer is checked against its schema: in tests, since a breach of the contract is ours. */
  checkReplies: boolean;
}

const idText = /^\d{1,19}$/;

function readIds(ctx: Context): Record<string, number> {
  const ids: Record<string, number> = {};
  for (const [name, text] of Object.entries(ctx.params as Record<string, string>)) {
    if (!idText.test(text)) throw badRequest('bad_path', `${name} must be a number`);
    const id = Number(text);
    if (!Number.isSafeInteger(id) || id === 0) throw notFound('Record');
    ids[name] = id;
  }
  return ids;
}

function readQuery(ctx: Context, schema: SchemaName): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(ctx.query)) {
    if (name !== '__proto__') query[name.replace(/\[\]$/, '')] = value;
  }
  const unsafe = Object.values(query).flat().some((value) => !String(value).isWellFormed() || String(value).includes('\0'));
  if (unsafe) throw badRequest('bad_query', 'A query value holds characters that are not text');
  refuse(findQueryProblems(schema, query), 400, 'bad_query');
  return query;
}

function refuse(details: ErrorDetail[], status: 400 | 422, code: string): void {
  const [first] = details;
  if (first) throw new ApiError(status, code, first.message, { details });
}

async function identify(ctx: Context, em: EntityManager, options: MountOptions): Promise<Principal> {
  await options.failures.check(ctx.ip);
  try {
    return await authenticate(ctx, em);
  } catch (error) {
    if (error instanceof ApiError) await options.failures.consume(ctx, ctx.ip);
    throw error;
  }
}

type AnyCall = Call<unknown, unknown>;

async function admit(ctx: Context, route: Route, options: MountOptions): Promise<Partial<AnyCall>> {
  const { services } = options;
  const em = services.database.em();
  if (route.contract.role === 'anyone') return { services, em };
  const principal = await identify(ctx, em, options);
  await options.requests.consume(ctx, principal.tokenId);
  const ids = readIds(ctx);
  if (route.contract.role === 'user') {
    if (principal.kind !== 'user') throw new ApiError(403, 'forbidden', 'Bots may not do this');
    return { services, em, principal, ids };
  }
  const { account_id: accountId = 0 } = ids;
  const { account, actor } = await enterAccount(em, accountId, principal, route.contract.role);
  return { services, em, principal, ids, account, actor, transact: (work) => transact(services.database, { account, actor }, work) };
}

async function serve(ctx: Context, route: Route, options: MountOptions): Promise<void> {
  const { contract } = route;
  const call = await admit(ctx, route, options);
  if (contract.query) call.query = readQuery(ctx, contract.query);
  if (contract.body) {
    call.body = await readBody(ctx, options.bodyLimitBytes);
    refuse(findProblems(contract.body, call.body), 422, 'validation_failed');
  }
  const reply = await route.handle(call as never);
  if (options.checkReplies) assertShape(contract.reply, reply);
  ctx.status = contract.status ?? 200;
  ctx.body = reply;
}

/** The routes as Koa middleware: authentication, roles, and validation of all that comes in, by each route's contract. */
export function mount(routes: readonly Route[], options: MountOptions): Router {
  const router = new Router();
  for (const route of routes) {
    router.register(route.path, [route.method], [(ctx: Context) => serve(ctx, route, options)]);
  }
  return router;
}
