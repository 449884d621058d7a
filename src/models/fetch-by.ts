import { sentenceOf } from '../outbound/failure-sentences.ts';
import type { OutboundHttp, OutboundResult } from '../outbound/http.ts';
import { ModelError } from './chat.ts';

type Fetch = typeof globalThis.fetch;

/** The headers that model servers get: neither what the client tells of this machine, nor what its environment adds. */
const sentHeaders = ['accept', 'content-type', 'authorization', 'user-agent'];

/**
 * A `fetch` that sends by the guarded way out; `failed` gets the failure of each request without an answer that can be used.
 * `apiKey` null: without authorization. `maxBytes` is the bound of `outbound` on answers.
 */
export function fetchBy(
  outbound: OutboundHttp,
  { apiKey, maxBytes, failed }: { apiKey: string | null; maxBytes: number; failed: (failure: ModelError) => void },
): Fetch {
  return async (target, { method = 'GET', headers, body, signal } = {}) => {
    const given = new Headers(headers);
    const names = sentHeaders.filter((name) => given.has(name) && (apiKey !== null || name !== 'authorization'));
    const result = await outbound.request(target instanceof Request ? target.url : target.toString(), {
      method,
      headers: Object.fromEntries(names.map((name) => [name, given.get(name) ?? ''])),
      ...(typeof body === 'string' ? { body } : {}),
      ...(signal ? { signal } : {}),
    });
    const failure = failureOf(result, maxBytes);
    if (failure) failed(failure);
    // The client asks again where there was no answer; one that is too large will not be smaller then.
    if (failure && failure.code !== 'bad_answer') throw failure;
    const { status, headers: answered, body: text } = result;
    return new Response(failure || isWithoutBody(status) ? null : text, { status: status ?? 502, headers: answered });
  };
}

function failureOf({ status, errorCode, body, bodyCut, headers }: OutboundResult, maxBytes: number): ModelError | null {
  if (status === null) {
    const code = errorCode ?? 'connect';
    if (code === 'aborted') return new ModelError('timeout', 'The model server took too long');
    return new ModelError(code, sentenceOf(code));
  }
  // The decoder leaves out an incomplete character at the end.
  if (bodyCut && Buffer.byteLength(body) > maxBytes - 4)
    return new ModelError('bad_answer', `An answer may have ${maxBytes} bytes`);
  if (bodyCut) return new ModelError('timeout', 'The answer broke off, or took too long');
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity' || encoding === '') return null;
  return new ModelError('bad_answer', 'The answer is compressed, although the request asked for none');
}

// A Response with one of these statuses must not have a body.
function isWithoutBody(status: number | null): boolean {
  return status === 204 || status === 205 || status === 304;
}
