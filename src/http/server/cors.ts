import cors from '@koa/cors';
import type { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Database } from '../../postgres/database.ts';
import { findPublicInbox } from '../../domain/widget/visits.ts';
import { layerName } from '../route/mount.ts';
import { factsOf } from '../route/admission/roles.ts';
import type { Route } from '../route/route.ts';

const preflightSeconds = 600;
const allowHeaders = [
  'api_access_token',
  'api-access-token',
  'authorization',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'last-event-id',
  'x-contact-token',
  'x-request-id',
];
const exposeHeaders = [
  'ETag',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Idempotency-Replayed',
  'X-Request-Id',
];

/**
 * Cross-origin calls by web pages: under /api from every origin, under /public from the origins that the inbox allows
 * (see also Contract.anyOrigin), never with credentials.
 */
export function crossOrigin(
  router: Router,
  { database, routes }: { database: Database; routes: readonly Route[] },
): Middleware {
  const byName = new Map(routes.map((route) => [layerName(route), route]));
  async function allowedOrigin(ctx: Context): Promise<string> {
    if (isOpenToAll(ctx.path)) return '*';
    const origin = ctx.get('origin');
    const method = ctx.method === 'OPTIONS' ? ctx.get('access-control-request-method') : ctx.method;
    const [layer] = origin === '' ? [] : router.match(ctx.path, method).pathAndMethod;
    const route = byName.get(layer?.name ?? '');
    if (!layer || !route) return '';
    if (route.contract.anyOrigin) return '*';
    if (factsOf(route.contract.role).door !== 'visitor') return '';
    const { identifier = '' } = layer.params(ctx.path, layer.captures(ctx.path));
    return (await allows(identifier, origin)) ? origin : '';
  }
  async function allows(identifier: string, origin: string): Promise<boolean> {
    const inbox = await findPublicInbox(database.sql, identifier);
    return inbox !== null && inbox.allowedOrigins.includes(origin);
  }
  return cors({
    origin: allowedOrigin,
    credentials: false,
    allowMethods: ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE'],
    allowHeaders,
    exposeHeaders,
    maxAge: preflightSeconds,
  });
}

// A cookie counts for the service's own pages only (route/browser.ts), and others have just the tokens that they were given:
// any page may call the API.
function isOpenToAll(path: string): boolean {
  return path.startsWith('/api/') || path === '/openapi.json';
}
