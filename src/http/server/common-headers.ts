import type { Context, Next } from 'koa';
import type { Random } from '../../lib/ports.ts';

const safeRequestId = /^[\w.:-]{1,128}$/;

/** The headers that all answers carry. A page of our own replaces the content security policy by its own. */
export function answerHeaders(requestId: string): Record<string, string> {
  return {
    'x-request-id': requestId,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  };
}

/** Gives each request an id, the caller's own where it is harmless, and each answer the headers that all of them carry. */
export function commonHeaders(random: Random) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const given = ctx.get('x-request-id');
    const requestId = safeRequestId.test(given) ? given : random.uuid();
    ctx.state.requestId = requestId;
    ctx.set(answerHeaders(requestId));
    await next();
  };
}
