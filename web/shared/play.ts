import { errorOf, unreachable } from './service-error.ts';

/** A post that the built-in receiver keeps. */
export interface KeptPost {
  id: number;
  received_at: string;
  path: string;
  webhook_id: string | null;
  attempt: number | null;
  event: string | null;
  verified: boolean;
  /** Why it is not verified. */
  problem: string | null;
  webhook: { id: number; name: string | null } | null;
  /** The beginning of the body. */
  body: string;
  /** Size of the whole body. */
  bytes: number;
  /** Null while it is not answered. */
  status: number | null;
}

/** State of the built-in receiver. It exists with demo data only, and is not part of the API. */
export interface PlayState {
  mode: string;
  modes: string[];
  url: string;
  /** Why no post can arrive. */
  problem: string | null;
  /** Newest first. */
  payload: KeptPost[];
}

/** Reads the posts behind the one with this number. Rejects with a ServiceError. */
export function readPlay(after: number | string, signal: AbortSignal | null = null): Promise<PlayState> {
  return ask(`/play/requests?after=${after}`, { signal });
}

/** Has the receiver answer otherwise from now on. Rejects with a ServiceError. */
export function setPlayMode(mode: string): Promise<PlayState> {
  const headers = { 'content-type': 'application/json' };
  return ask('/play/mode', { method: 'PUT', headers, body: JSON.stringify({ mode }) });
}

async function ask(path: string, init: RequestInit = {}): Promise<PlayState> {
  const response = await fetch(path, init).catch(() => {
    throw unreachable();
  });
  const reply = (await response.json().catch(() => null)) as PlayState | null;
  if (!response.ok || !reply) throw errorOf(response.status, reply);
  return reply;
}
