import { timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { Context, Next } from 'koa';
import { forbidden, unauthenticated } from '../../errors.ts';
import { hashToken } from '../../lib/secrets/tokens.ts';
import type { Counter, Histogram } from '../../metrics/registries.ts';
import { methodNotAllowed } from './refusals/method.ts';

const path = '/metrics';
const methods = ['GET', 'HEAD'];
const policyName = /^"([^"]+)"/;

const refusal = 'Metrics are answered to this machine only, under its own name, unless METRICS_TOKEN is set';

/** Metrics of requests. */
export interface RequestMetrics {
  requests: Histogram<'method' | 'route' | 'status'>;
  rateLimited: Counter<'policy'>;
}

/** Koa middleware that measures requests; the route is the pattern, never the path. */
export function measureRequests({ requests, rateLimited }: RequestMetrics) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const begun = performance.now();
    await next();
    const route = String(ctx['_matchedRoute'] ?? 'none');
    requests.observe({ method: ctx.method, route, status: String(ctx.status) }, (performance.now() - begun) / 1000);
    if (ctx.status === 429)
      rateLimited.inc({ policy: policyName.exec(ctx.response.get('ratelimit-policy'))?.[1] ?? 'event-streams' });
  };
}

export interface MetricsOptions {
  /** METRICS_TOKEN; without one, callers on this machine are answered only. */
  token: string | null;
  /** Everything, in the text format of Prometheus. */
  text: () => Promise<string>;
  /** The URL at which people reach the service. */
  publicUrl: () => string;
}

/** Koa middleware that answers /metrics. Errors: 401 without the token where there is one, 403 from another machine. */
export function serveMetrics({ token, text, publicUrl }: MetricsOptions) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.path !== path) return next();
    if (!methods.includes(ctx.method)) throw methodNotAllowed(methods);
    if (token !== null) checkToken(ctx, token);
    else if (!isLocal(ctx) || !isOwnHost(ctx.get('host'), publicUrl())) throw forbidden(refusal);
    ctx.set('content-type', 'text/plain; version=0.0.4; charset=utf-8');
    ctx.body = await text();
  };
}

function checkToken(ctx: Context, token: string): void {
  const given = /^Bearer +(\S+)$/i.exec(ctx.get('authorization'))?.[1] ?? '';
  if (!timingSafeEqual(hashToken(given), hashToken(token))) throw unauthenticated();
}

// Behind a proxy on this machine, the caller is the address that the proxy names.
function isLocal(ctx: Context): boolean {
  const address = ctx.app.proxy ? ctx.ip : (ctx.req.socket.remoteAddress ?? '');
  if (!ctx.app.proxy && (ctx.get('x-forwarded-for') !== '' || ctx.get('forwarded') !== '')) return false;
  return isIP(address) > 0 && /^(?:127\.|::1$|::ffff:127\.)/.test(address);
}

// A web page may have its host name lead to this machine (DNS rebinding), and read what its browser may.
function isOwnHost(host: string, publicUrl: string): boolean {
  const { hostname } = URL.parse(`http://${host}`) ?? { hostname: '' };
  const isAddress = isIP(hostname.replace(/^\[(.*)\]$/, '$1')) > 0;
  return isAddress || hostname === 'localhost' || hostname === new URL(publicUrl).hostname;
}
