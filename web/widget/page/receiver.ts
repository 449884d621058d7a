import type { Call } from '../../shared/call.ts';
import { readPlay, setPlayMode } from '../../shared/play.ts';

/** Above the number of every request: they are not wanted here. */
const lastOfAll = '9'.repeat(15);

/** How the demonstration's receiver answers; null where no webhook posts to it. Rejects with a ServiceError. */
export async function readReceiver(call: Call): Promise<string | null> {
  const { payload } = await call('GET webhooks');
  const isThere = payload.some(({ url }) => new URL(url).pathname.startsWith('/play/'));
  return isThere ? (await readPlay(lastOfAll)).mode : null;
}

/** Has the receiver answer otherwise; resolves with how it answers from then on. */
export async function setReceiver(mode: 'ok' | 'fail'): Promise<string> {
  return (await setPlayMode(mode)).mode;
}
