import { openGate } from '../../src/lib/outbound-gate.ts';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createOutboundHttp } from '../../src/outbound/http.ts';
import type { OutboundHttp, OutboundHttpOptions } from '../../src/outbound/http.ts';
import type { HostResolver } from '../../src/outbound/host-resolver.ts';

/** A server on this machine, and how many connections it has seen. */
export interface Listener {
  readonly port: number;
  readonly connections: () => number;
  readonly open: () => number;
  readonly close: () => Promise<void>;
}

/** Binds a server to a free port; closing destroys its sockets. */
export async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<Listener> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An HTTP server with one handler for everything. */
export function listenHttp(handler: RequestListener, host?: string, port?: number): Promise<Listener> {
  return listen(createHttpServer(handler), host, port);
}

/** A TCP server that does as told once the first bytes of a request arrived. */
export function listenRaw(answer: (socket: Socket) => void): Promise<Listener> {
  return listen(createTcpServer((socket) => socket.once('data', () => answer(socket))));
}

/** The way out with bounds that suit a test; loopback is allowed unless said otherwise. */
export function outbound(options: Partial<OutboundHttpOptions> = {}): OutboundHttp {
  return createOutboundHttp({
    gate: openGate,
    allowCidrs: ['127.0.0.1/32'],
    timeoutMs: 20_000,
    maxResponseBytes: 16_384,
    connectionsPerOrigin: 8,
    ...options,
  });
}

/** A resolver that answers from a script: each call takes the next answer, the last one stays. */
export function scriptedResolver(...answers: (readonly string[])[]): HostResolver & { calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    resolve: async () => {
      const addresses = answers[Math.min(calls, answers.length - 1)] ?? [];
      calls += 1;
      return addresses.length === 0 ? { problem: 'ENOTFOUND' } : { addresses };
    },
  };
}
