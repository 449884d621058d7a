import type { Context, Next } from 'koa';
import { ApiError } from '../../errors.ts';

const health = new Set(['/healthz', '/readyz']);

/** 503 for whoever asks before the service can answer truly, or once it no longer takes work. */
export function notReady(): ApiError {
  return new ApiError(503, 'not_ready', 'The service is not ready yet', { headers: { 'retry-after': '1' } });
}

/**
 * Refuses everything but the questions after its health until the start is through: before the first administrator
 * exists a valid token would be answered 401, and an existing record 404. Errors: 503.
 */
export function refuseUnready(started: () => boolean) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (!started() && !health.has(ctx.path)) throw notReady();
    await next();
  };
}
