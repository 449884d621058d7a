import { closeServer } from '../http/server/close-server.ts';
import type { Parts } from './compose.ts';
import { stopBackground } from './stop-background.ts';

/** Shuts down in order: stop accepting requests, answer those in progress, write the results of deliveries, disconnect. */
export async function stop(parts: Parts): Promise<void> {
  const { phase, sharedClock, http, config, databases, receiver } = parts;
  phase.accepting = false;
  sharedClock.stop();
  await phase.endReload?.();
  receiver?.release();
  // Their connections would stay open for as long as the shutdown may take.
  const streamsEnded = parts.streams.stop();
  await Promise.all([
    streamsEnded,
    closeServer(http.server, config.shutdownTimeoutMs / 2),
    stopBackground(parts),
    parts.plugins.stop(),
  ]);
  // Until then deliveries arrive.
  await receiver?.close();
  await parts.wakes.stop();
  await Promise.all([parts.sandbox.close(), parts.trials.close(), parts.replayer.close()]);
  const ways = [parts.outbound, parts.botOutbound, parts.fileOutbound, parts.plainOutbound, parts.models];
  await Promise.all([...ways.map((way) => way.close()), parts.objects?.close(), parts.provider?.close()]);
  await parts.mailer.close();
  await parts.tokenUses.stop();
  await Promise.all([databases.requests.close(), databases.engine.close()]);
}
