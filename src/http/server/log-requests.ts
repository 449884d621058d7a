import type { Context, Next } from 'koa';
import type { Logger } from 'pino';

// Polled every few seconds by monitoring.
const healthRoutes = new Set<unknown>(['/healthz', '/readyz']);

/**
 * Logs a line for each request: method, route, status, milliseconds and request id. The route is the pattern and not
 * the path, which may contain a token or a search term; it is null where no route matches.
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
