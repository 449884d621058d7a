import { sentenceOf } from '../../outbound/failure-sentences.ts';
import type { OutboundHttp, OutboundResult } from '../../outbound/http.ts';
import { storableText } from '../../lib/text/storable.ts';
import type { FetchAnswer, SendRequest } from './fetch.ts';

/** Sends requests of bots by the guarded way out; `maxBytes` is its bound on answers. */
export function sendOutbound(outbound: OutboundHttp, maxBytes: number): SendRequest {
  return async ({ url, method, headers, body }, signal) => {
    const message = { method, headers: { ...headers }, signal, ...(body === undefined ? {} : { body }) };
    return answerOf(await outbound.request(url, message), maxBytes);
  };
}

function answerOf({ status, headers, body, bodyCut, errorCode }: OutboundResult, maxBytes: number): FetchAnswer {
  if (status === null) {
    const code = errorCode ?? 'connect';
    return { problem: { code, message: sentenceOf(code) } };
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity' && encoding !== '') {
    return problem('bad_response', 'The answer is compressed, although the request asked for none');
  }
  // The decoder leaves out an incomplete character at the end.
  if (bodyCut && Buffer.byteLength(body) > maxBytes - 4)
    return problem('too_large', `An answer may have ${maxBytes} bytes`);
  if (bodyCut) return problem('incomplete', 'The answer broke off, or took too long');
  return { status, headers: storable(headers), text: body };
}

function problem(code: string, message: string): FetchAnswer {
  return { problem: { code, message } };
}

function storable(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, storableText(value, value.length)]));
}
