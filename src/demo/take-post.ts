import type { IncomingMessage, ServerResponse } from 'node:http';
import rawBody from 'raw-body';
import type { Receiver } from './receiver.ts';

const maxBytes = 1024 * 1024;
const tooLarge = 413;
const malformed = 400;

/** Reads a post and has the receiver take it: the status to answer. `path` is without its query. */
export async function takePost(
  receiver: Receiver,
  path: string,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<number> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const length = request.headers['content-length'] ?? null;
  const body = await rawBody(request, { limit: maxBytes, length }).catch((error: { type?: string }) =>
    error.type === 'entity.too.large' ? tooLarge : malformed,
  );
  if (typeof body === 'number') return body;
  const header = (name: string): string => String(request.headers[name] ?? '');
  return receiver.receive({ path, header, body, signal: gone.signal });
}
