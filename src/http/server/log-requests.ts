import type { Context, Next } from 'koa';
import type { Logger } from 'pino';

// Asked for every few seconds by whatever watches the process: news to nobody.
const healthRoutes = new Set<unknown>(['/healthz', '/readyz']);

/**
 * Leaves a line for each request: method, route, status, milliseconds and request id. The route is the pattern and never
 * the path itself, which may hold a token or a search for a person; null for an address that no route serves.
 */
export function logRequests(log: Logger) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const begun = performance.now();
    await next();
    const route: unknown = ctx['_matchedRoute'] ?? null;
    const ms = Math.round((performance.now() - begun) * 10) / 10;
    const fields = { method: ctx.method, route, status: ctx.status, ms, request_id: ctx.state.requestId as string };
    if (healthRoutes.has(route)) log.debug(fields, 'request');
    else log.info(fields, 'request');
  };
}
