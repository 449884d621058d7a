import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { ApiError } from '../../../errors.ts';

/** All methods that the service's paths take. */
export const allMethods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

/** 405, with the methods that the path takes. */
export function methodNotAllowed(allowed: readonly string[]): ApiError {
  return new ApiError(
    405,
    'method_not_allowed',
    'This path does not take this method; the Allow header lists those it takes',
    {
      headers: { allow: allowed.join(', ') },
    },
  );
}

function methodsAt(router: Router, ctx: Context): string[] {
  // `OPTIONS *` concerns the server as a whole.
  if (ctx.path === '*') return allMethods;
  const methods = router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods);
  return methods.length === 0 ? [] : [...new Set([...methods, 'OPTIONS'])].sort();
}

/** Answers requests that no route matched: OPTIONS with the path's methods. Errors: 405, 404. */
export function refuseMethod(router: Router) {
  return (ctx: Context): void => {
    const allowed = methodsAt(router, ctx);
    if (allowed.length === 0) {
      // No path takes this method.
      if (!allMethods.includes(ctx.method)) throw methodNotAllowed(allMethods);
      throw new ApiError(404, 'not_found', 'There is nothing at this path');
    }
    if (ctx.method !== 'OPTIONS') throw methodNotAllowed(allowed);
    ctx.status = 204;
    ctx.set('allow', allowed.join(', '));
  };
}
