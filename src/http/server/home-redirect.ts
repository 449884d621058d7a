import type { Context, Middleware, Next } from 'koa';

/** Koa middleware that leads browsers from `/` to the page at `home`; other clients find nothing there, as before. */
export function leadHome(home: string): Middleware {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.path !== '/' || !['GET', 'HEAD'].includes(ctx.method)) return next();
    ctx.vary('accept');
    // Only browsers name it; `*/*` of other clients would mean anything.
    if (!/\btext\/html\b/.test(ctx.get('accept'))) return next();
    ctx['_matchedRoute'] = '/';
    ctx.redirect(home);
  };
}
