import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type Koa from 'koa';
import type { Context } from 'koa';
import { ServerResponse } from '../../lib/node-http.ts';

/** A request that the service makes of itself. */
interface OwnRequest {
  method: string;
  /** Path and query. */
  path: string;
  body?: unknown;
  /** Its own Idempotency-Key. */
  key?: string;
}

/** The answer to an internal request; `body` is parsed JSON, undefined where there is none. */
interface OwnAnswer {
  status: number;
  body: unknown;
  headers: Readonly<Record<string, unknown>>;
}

/** Has the routes answer one more request in the name of a request's caller, who is admitted and counted for it again. */
export type Ask = (ctx: Context, request: OwnRequest) => Promise<OwnAnswer>;

/** Headers of the caller's request that concern that request alone. */
const ofOneRequest = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'expect',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'last-event-id',
  'range',
]);

/** Makes requests of the service's own routes, without a connection. */
export function askingOf(app: Koa, serve: (ctx: Context) => Promise<void>): Ask {
  return async (ctx, request) => {
    const incoming = incomingOf(ctx, request);
    const own = app.createContext(incoming, new ServerResponse(incoming)) as Context;
    own.res.statusCode = 404;
    own.state.requestId = ctx.state.requestId as string;
    await serve(own);
    const text: unknown = own.body;
    const body = typeof text === 'string' ? (JSON.parse(text) as unknown) : undefined;
    return { status: own.status, body, headers: own.response.headers };
  };
}

function incomingOf({ req }: Context, { method, path, body, key }: OwnRequest): IncomingMessage {
  const bytes = body === undefined ? [] : [Buffer.from(JSON.stringify(body))];
  const kept = Object.entries(req.headers).filter(([name]) => !ofOneRequest.has(name));
  const told = bytes.map(({ length }) => ({ 'content-type': 'application/json', 'content-length': String(length) }));
  const keyed = key === undefined ? {} : { 'idempotency-key': key };
  const headers = Object.assign(Object.fromEntries(kept), keyed, ...told) as IncomingMessage['headers'];
  const { socket, httpVersion, httpVersionMajor, httpVersionMinor } = req;
  // Stands for an incoming request: the properties that the routes read, with bytes that are present already.
  const parts = { method, url: path, headers, socket, httpVersion, httpVersionMajor, httpVersionMinor };
  return Object.assign(Readable.from(bytes, { objectMode: false }), parts) as unknown as IncomingMessage;
}
