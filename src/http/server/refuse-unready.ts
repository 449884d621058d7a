import type { Context, Next } from 'koa';
import { ApiError } from '../../errors.ts';

const health = new Set(['/healthz', '/readyz']);

/** 503 before the start has completed and during the shutdown. */
export function notReady(): ApiError {
  return new ApiError(503, 'not_ready', 'The service is not ready yet', { headers: { 'retry-after': '1' } });
}

/**
 * Refuses everything but the health checks until the start has completed: before the database is migrated and seeded, a
 * valid token would be answered 401 and an existing record 404. Errors: 503.
 */
export function refuseUnready(started: () => boolean) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (!started() && !health.has(ctx.path)) throw notReady();
    await next();
  };
}
