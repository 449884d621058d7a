import type { Server } from 'node:http';
import type { Router } from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import { createServer } from '../../lib/node-http.ts';
import type { ApiError } from '../../errors.ts';
import type { Random } from '../../lib/ports.ts';
import { answerErrors } from './refusals/answer-errors.ts';
import { askingOf, type Ask } from './ask.ts';
import { checkMs, headersMs } from './limits/arrivals.ts';
import { answerClientErrors } from './refusals/client-errors.ts';
import { commonHeaders } from './common-headers.ts';
import { Connections } from './limits/connections.ts';
import { crossOrigin } from './cors.ts';
import { leadHome } from './home-redirect.ts';
import { logRequests } from './log-requests.ts';
import { mount, type MountOptions } from '../route/mount.ts';
import { refuseMalformed } from './refusals/malformed.ts';
import { refuseMethod } from './refusals/method.ts';
import { refuseUnready } from './refusals/unready.ts';
import type { Route } from '../route/route.ts';
import { measureRequests, serveMetrics, type MetricsOptions, type RequestMetrics } from './serve-metrics.ts';
import { sendBounds, SlowReaders, type SendBounds } from './limits/slow-readers.ts';
import { serveFiles, type FindFile, type StaticFile } from './static-files.ts';

export interface ServerOptions extends MountOptions {
  /** Static files, in addition to the routes. */
  files?: readonly StaticFile[];
  /** Finds more files, such as the built pages. */
  findFile?: FindFile;
  /** Where browsers are led that ask for `/`. */
  home?: string;
  /** Serve paths that are no part of the API, with what admits its callers. */
  serve?: readonly ((mounted: MountOptions) => Koa.Middleware)[];
  /** Serve the routes in the words of other APIs. */
  dialects?: readonly ((ask: Ask) => Koa.Middleware)[];
  /** The number of reverse proxies whose X-Forwarded-For is believed. */
  trustedProxies: number;
  /** Connections at the same time: in all, and from one address (not counted behind a proxy). */
  connections: { total: number; perAddress: number };
  /** How long, and how much of them, answers wait for their clients. */
  sending?: SendBounds;
  metrics: RequestMetrics & Omit<MetricsOptions, 'publicUrl'>;
  /** Draws an error for people; HTML. */
  drawError: (error: ApiError, requestId: string) => string;
  log: Logger;
  random: Random;
}

/** The server, which does not listen yet, and its connections. */
export interface HttpServer {
  server: Server;
  connections: Connections;
}

/** The HTTP server over a route table. */
export function createHttpServer(routes: readonly Route[], options: ServerOptions): HttpServer {
  const { trustedProxies, services } = options;
  const { upgrade } = services;
  const isUpgraded = () => upgrade.look().catch(() => false);
  const answering = () => answerErrors({ log: options.log, draw: options.drawError, isUpgraded });
  const app = new Koa({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  app.silent = true;
  const router = mount(routes, options);
  const readers = new SlowReaders(options.sending ?? sendBounds);
  app.use(readers.middleware);
  app.use(commonHeaders(options.random));
  app.use(logRequests(options.log));
  app.use(measureRequests(options.metrics));
  app.use(answering());
  for (const dialect of options.dialects ?? []) app.use(dialect(askingOf(app, answerAlone(router, answering()))));
  // A dialect gets errors as answers, too.
  if (options.dialects) app.use(answering());
  app.use(refuseMalformed);
  // Monitoring is answered during the start, too.
  app.use(serveMetrics({ ...options.metrics, publicUrl: services.publicUrl }));
  app.use(refuseUnready({ started: services.started, upgraded: () => upgrade.isUpgraded }));
  app.use(crossOrigin(router, { database: options.database, routes }));
  app.use(serveFiles(options.files ?? [], options.findFile ?? (() => Promise.resolve(null))));
  if (options.home) app.use(leadHome(options.home));
  for (const serve of options.serve ?? []) app.use(serve(options));
  app.use(router.routes());
  app.use(refuseMethod(router));
  const handle = app.callback();
  const server = createServer(
    {
      // Slow senders are cut after seconds, bodies by `arrivals`.
      headersTimeout: headersMs,
      requestTimeout: options.arrivals.longestMs,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: checkMs,
      // Node would answer without a body; refuseMalformed answers in the shape of all errors.
      requireHostHeader: false,
    },
    // A connection that was closed may still have requests that arrived together with the one it was closed for.
    (request, response) => {
      if (!request.socket.destroyed) void handle(request, response);
    },
  );
  // The size of headers is limited already; Node drops headers beyond this number silently.
  server.maxHeadersCount = 0;
  answerClientErrors(server, options.random);
  options.arrivals.watch(server);
  readers.watch(server);
  const { total, perAddress } = options.connections;
  const connections = new Connections(server, { total, perAddress: trustedProxies > 0 ? Infinity : perAddress });
  return { server, connections };
}

function answerAlone(router: Router, answering: Koa.Middleware): (ctx: Koa.Context) => Promise<void> {
  const routed = router.routes() as Koa.Middleware;
  return (ctx) => answering(ctx, async () => void (await routed(ctx, () => Promise.resolve())));
}
