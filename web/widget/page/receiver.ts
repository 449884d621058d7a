import type { Call } from '../../shared/call.ts';
import { errorOf, unreachable } from '../../shared/service-error.ts';

/** Above the number of every request: they are not wanted here. */
const lastOfAll = '9'.repeat(15);

/** How the demonstration's receiver answers; null where no webhook posts to it. Rejects with a ServiceError. */
export async function readReceiver(call: Call): Promise<string | null> {
  const { payload } = await call('GET webhooks');
  const isThere = payload.some(({ url }) => new URL(url).pathname.startsWith('/play/'));
  return isThere ? ask(`/play/requests?after=${lastOfAll}`) : null;
}

/** Has the receiver answer otherwise; resolves with how it answers from then on. */
export function setReceiver(mode: 'ok' | 'fail'): Promise<string> {
  const body = JSON.stringify({ mode });
  return ask('/play/mode', { method: 'PUT', headers: { 'content-type': 'application/json' }, body });
}

async function ask(path: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(path, init).catch(() => {
    throw unreachable();
  });
  const reply = (await response.json().catch(() => null)) as { mode?: string } | null;
  if (!response.ok || reply?.mode === undefined) throw errorOf(response.status, reply);
  return reply.mode;
}
