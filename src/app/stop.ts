import { closeServer } from '../http/server/close-server.ts';
import type { Parts } from './compose.ts';

/** Ends in order: no new requests, those under way answered, deliveries under way written, connections closed. */
export async function stop(parts: Parts): Promise<void> {
  const { phase, sharedClock, http, config, engine, feed, databases } = parts;
  phase.accepting = false;
  sharedClock.stop();
  await Promise.all([closeServer(http.server, config.shutdownTimeoutMs / 2), engine.stop(), feed.stop()]);
  await parts.alarms.stop();
  await parts.sandbox.close();
  await parts.outbound.close();
  await parts.mailer.close();
  await Promise.all([databases.requests.close(), databases.engine.close()]);
}
