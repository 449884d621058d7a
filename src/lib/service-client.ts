import { OperatorError } from './operator-error.ts';
import type { ServicePass } from './service-pass.ts';

/**
 * Calls an operation of the running service. A body is sent as JSON, or as the form that it is. Throws OperatorError with
 * the service's own sentences when the answer is an error.
 */
export type CallService = <Reply>(method: string, path: string, body?: object) => Promise<Reply>;

/** A refusal of the service: its status, and its own sentences as the message. */
export class ServiceRefusal extends OperatorError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface ErrorReply {
  error?: string;
  details?: { message: string }[];
}

/** The function that calls the service at this URL with this token. */
export function createServiceClient({ url, token }: ServicePass): CallService {
  const base = url.replace(/\/+$/, '');
  return async <Reply>(method: string, path: string, body?: object): Promise<Reply> => {
    const response = await fetch(base + path, { method, ...contentOf(token, body) }).catch(() => {
      throw new OperatorError(
        `No service answers at ${base}: start it with npm start. One that keeps its data elsewhere wants its DATA_DIR here too, or --url and --token.`,
      );
    });
    const reply = await readReply(response, base);
    if (response.status === 401) {
      throw new OperatorError(
        `The service at ${base} does not know this token: it keeps its data elsewhere. Call this with its DATA_DIR, or give --token.`,
      );
    }
    if (!response.ok) throw new ServiceRefusal(response.status, sentencesOf(reply as ErrorReply, response.status));
    return reply as Reply;
  };
}

/** Opens a stream of events of the service, behind the last event that was seen. Throws OperatorError, ServiceRefusal. */
export async function openStream(
  { url, token }: ServicePass,
  path: string,
  lastEventId: string | null,
): Promise<AsyncIterable<Uint8Array>> {
  const base = url.replace(/\/+$/, '');
  const seen = lastEventId === null ? {} : { 'last-event-id': lastEventId };
  const response = await fetch(base + path, { headers: { api_access_token: token, ...seen } }).catch(() => {
    throw new OperatorError(`No service answers at ${base}: start it with npm start, or give --url and --token.`);
  });
  if (response.ok && response.body) return response.body;
  const reply = (await readReply(response, base)) as ErrorReply;
  throw new ServiceRefusal(response.status, sentencesOf(reply, response.status));
}

/** Sends a request to a server of the user's: its status, or why there is none within the time. */
export async function postTo(
  url: string,
  { headers, body, timeoutMs }: { headers: Record<string, string>; body: string; timeoutMs: number },
): Promise<{ status: number | null; error: string | null }> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    return { status: response.status, error: null };
  } catch (error) {
    const { cause, name, message } = error as Error & { cause?: { code?: string } };
    if (name === 'TimeoutError') return { status: null, error: `no answer within ${timeoutMs} ms` };
    return { status: null, error: cause?.code ?? message };
  }
}

function contentOf(token: string, body?: object): RequestInit {
  if (body instanceof FormData) return { headers: { api_access_token: token }, body };
  const headers = { api_access_token: token, 'content-type': 'application/json' };
  return body ? { headers, body: JSON.stringify(body) } : { headers };
}

async function readReply(response: Response, base: string): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    throw new OperatorError(`What answers at ${base} is no Switchboard service: it answered ${response.status}.`);
  }
}

// Every problem on a line of its own, where there are several.
function sentencesOf({ error = 'without a reason', details = [] }: ErrorReply, status: number): string {
  if (status === 403) return `The service refused (403): ${error}. Give --token of somebody who may.`;
  if (details.length < 2) return `The service refused (${status}): ${error}`;
  return [`The service refused (${status}):`, ...details.map(({ message }) => `  - ${message}`)].join('\n');
}
