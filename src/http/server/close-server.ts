import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

const idleCheckMs = 50;
// Turns of the event loop: to accept a connection, and to read its first bytes.
const arrivalTurns = 3;

/**
 * Closes a server gracefully: it accepts no new connections, and kept ones end with their present answer. After
 * `cutAfterMs` the remaining connections are cut, so that they cannot delay the rest of the shutdown.
 */
export async function closeServer(server: Server, cutAfterMs: number): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.prependListener('request', (_, response) => response.setHeader('connection', 'close'));
  // close() drops connections without a request, also those whose request has arrived but was not read yet.
  for (let turn = 0; turn < arrivalTurns; turn += 1) await nextTurn();
  server.close(() => resolve());
  const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs);
  const cut = setTimeout(() => server.closeAllConnections(), cutAfterMs);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}
