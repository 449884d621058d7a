import { createServer, type Server } from 'node:http';
import Koa from 'koa';
import type { Logger } from 'pino';
import type { Random } from '../lib/ports.ts';
import { answerErrors } from './answer-errors.ts';
import { answerClientErrors } from './client-errors.ts';
import { commonHeaders } from './common-headers.ts';
import { crossOrigin } from './cors.ts';
import { mount, type MountOptions } from './mount.ts';
import { refuseMalformed } from './refuse-malformed.ts';
import { refuseMethod } from './refuse-method.ts';
import type { Route } from './route.ts';
import { serveFiles, type StaticFile } from './static-files.ts';

const maxConnections = 2000;

export interface ServerOptions extends MountOptions {
  /** What is served beside the routes. */
  files?: readonly StaticFile[];
  /** Reverse proxies whose word about the caller's address counts. */
  trustedProxies: number;
  log: Logger;
  random: Random;
}

/** The HTTP server over a route table; not listening yet. */
export function createHttpServer(routes: readonly Route[], options: ServerOptions): Server {
  const { trustedProxies } = options;
  const app = new Koa({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  app.silent = true;
  const router = mount(routes, options);
  app.use(commonHeaders(options.random));
  app.use(answerErrors(options.log));
  app.use(refuseMalformed);
  app.use(crossOrigin(router, { database: options.database, routes }));
  app.use(serveFiles(options.files ?? []));
  app.use(router.routes());
  app.use(refuseMethod(router));
  const handle = app.callback();
  const server = createServer(
    {
      // Slow senders are cut after seconds, not after Node's minutes.
      headersTimeout: 10_000,
      requestTimeout: 20_000,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 2_000,
      // Node would refuse without a word to the client; refuseMalformed says it.
      requireHostHeader: false,
    },
    (request, response) => void handle(request, response),
  );
  server.maxConnections = maxConnections;
  // Their size is bounded already, and headers beyond a number would be dropped without a word.
  server.maxHeadersCount = 0;
  answerClientErrors(server, options.random);
  return server;
}
