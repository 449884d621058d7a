import type { Context, Next } from 'koa';
import type { Random } from '../../lib/ports.ts';

const safeRequestId = /^[\w.:-]{1,128}$/;

/** Headers of every answer. The service's own HTML pages set another content security policy. */
export function answerHeaders(requestId: string): Record<string, string> {
  return {
    'x-request-id': requestId,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  };
}

/** Gives each request an id, the caller's own where it is harmless, and each answer the common headers. */
export function commonHeaders(random: Random) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const given = ctx.get('x-request-id');
    const requestId = safeRequestId.test(given) ? given : random.uuid();
    ctx.state.requestId = requestId;
    ctx.set(answerHeaders(requestId));
    await next();
  };
}
