import type { Context, Next } from 'koa';
import { badRequest } from '../../../errors.ts';

const visible = /^[\x21-\x7e]*$/;

/**
 * Refuses requests whose URL is ambiguous: no Host header or several, or a path or query that is not percent-encoded
 * UTF-8. Errors: 400.
 */
export async function refuseMalformed(ctx: Context, next: Next): Promise<void> {
  const hosts = ctx.req.headersDistinct['host']?.length ?? 0;
  if (hosts > 1 || (hosts === 0 && ctx.req.httpVersion === '1.1')) {
    throw badRequest('bad_host', 'The request must have exactly one Host header');
  }
  if (!visible.test(ctx.url) || !decodes(ctx.path))
    throw badRequest('bad_path', 'The path must be percent-encoded UTF-8');
  if (!decodes(ctx.querystring)) throw badRequest('bad_query', 'The query must be percent-encoded UTF-8');
  await next();
}

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
