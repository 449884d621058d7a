import type { Context, Next } from 'koa';
import { ApiError, upgrading } from '../../../errors.ts';

const health = new Set(['/healthz', '/readyz']);

/** 503 before the start has completed and during the shutdown. */
export function notReady(): ApiError {
  return new ApiError(503, 'not_ready', 'The service is not ready yet', { headers: { 'retry-after': '1' } });
}

const reading = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Readiness of the process at the moment. */
interface Readiness {
  started: () => boolean;
  upgraded: () => boolean;
}

/**
 * Refuses everything but the health checks until the start has completed: before the database is migrated and seeded, a
 * valid token would be answered 401 and an existing record 404. Refuses writes once a newer release has migrated the database.
 * Errors: 503.
 */
export function refuseUnready({ started, upgraded }: Readiness) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (!started() && !health.has(ctx.path)) throw notReady();
    if (upgraded() && !reading.has(ctx.method)) throw upgrading();
    await next();
  };
}
