import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

const idleCheckMs = 50;
// Of the event loop: to accept a connection, and to read what came on it.
const arrivalTurns = 3;

/**
 * Ends a server in order: no new connections, and a kept one ends with its present answer. One that does not get to its
 * end within `cutAfterMs` is cut: it must not keep the rest of the service from ending in order.
 */
export async function closeServer(server: Server, cutAfterMs: number): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.prependListener('request', (_, response) => response.setHeader('connection', 'close'));
  // Closing ends connections without a request; one may have arrived that was not read yet.
  for (let turn = 0; turn < arrivalTurns; turn += 1) await nextTurn();
  server.close(() => resolve());
  const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs);
  const cut = setTimeout(() => server.closeAllConnections(), cutAfterMs);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}
