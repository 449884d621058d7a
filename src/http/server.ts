import { createServer, type Server } from 'node:http';
import Koa from 'koa';
import type { Logger } from 'pino';
import { ApiError } from '../errors.ts';
import type { Random } from '../lib/ports.ts';
import { answerErrors } from './answer-errors.ts';
import { commonHeaders } from './common-headers.ts';
import { mount, type MountOptions } from './mount.ts';
import type { Route } from './route.ts';

const maxConnections = 2000;

/** The HTTP server over a route table; not listening yet. */
export function createHttpServer(
  routes: readonly Route[],
  options: MountOptions & { log: Logger; random: Random },
): Server {
  const app = new Koa();
  app.silent = true;
  const router = mount(routes, options);
  app.use(commonHeaders(options.random));
  app.use(answerErrors(options.log));
  app.use(router.routes());
  const refuseMethod = () => new ApiError(405, 'method_not_allowed', 'This method is not allowed here');
  app.use(router.allowedMethods({ throw: true, methodNotAllowed: refuseMethod, notImplemented: refuseMethod }));
  const handle = app.callback();
  const server = createServer(
    {
      // Slow senders are cut after seconds, not after Node's minutes.
      headersTimeout: 10_000,
      requestTimeout: 20_000,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 2_000,
    },
    (request, response) => void handle(request, response),
  );
  server.maxConnections = maxConnections;
  return server;
}
