import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../../../errors.ts';
import { STATUS_CODES } from '../../../lib/node-http.ts';
import type { Random } from '../../../lib/ports.ts';
import { errorBody } from './answer-errors.ts';
import { answerHeaders } from '../common-headers.ts';
import { allMethods, methodNotAllowed } from './method.ts';

interface ClientError extends Error {
  code?: string;
  rawPacket?: Buffer;
}

const requestLine = /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r?\n/;

/**
 * Answers what Node's HTTP parser refuses, or would answer without a body, in the shape of all other errors, and closes
 * the connection.
 */
export function answerClientErrors(server: Server, random: Random): void {
  const latest = new WeakMap<Socket, { request: IncomingMessage; response: ServerResponse }>();
  const refused = new WeakSet<Socket>();
  const refuse = (socket: Socket, error: ApiError): void => {
    if (socket.writable) write(socket, error, random.uuid());
    else socket.destroy();
  };
  server.on('request', (request, response) => latest.set(request.socket, { request, response }));
  server.on('clientError', (error: ClientError, socket: Socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    const under = latest.get(socket);
    const answered = !under || under.response.writableFinished;
    if (answered || (!under.request.complete && !under.response.headersSent)) return refuse(socket, explain(error));
    // A pipelined request failed while the one before it is being answered, or its own answer has begun: do not interleave.
    if (under.request.complete) under.response.once('close', () => refuse(socket, explain(error)));
    else socket.destroy();
  });
  server.on('connect', (_, socket: Socket) => refuse(socket, methodNotAllowed(allMethods)));
  server.on('checkExpectation', ({ socket }: IncomingMessage) => {
    refuse(
      socket,
      new ApiError(417, 'expectation_failed', 'The service knows no such expectation as the Expect header names'),
    );
  });
}

function explain({ code, rawPacket }: ClientError): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new ApiError(431, 'headers_too_large', 'The headers of the request are too large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ApiError(408, 'request_timeout', 'The request took too long to arrive');
  }
  // Well-formed except for a method that the parser does not know.
  if (code === 'HPE_INVALID_METHOD' && requestLine.test(rawPacket?.toString('latin1') ?? '')) {
    return methodNotAllowed(allMethods);
  }
  return new ApiError(400, 'bad_http', 'The request is not valid HTTP');
}

function write(socket: Socket, error: ApiError, requestId: string): void {
  const body = JSON.stringify(errorBody(error, requestId));
  const headers = {
    ...answerHeaders(requestId),
    ...error.headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`);
  socket.destroySoon();
}
