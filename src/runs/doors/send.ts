import { sentenceOf } from '../../outbound/failure-sentences.ts';
import type { OutboundHttp, OutboundResult } from '../../outbound/http.ts';
import { storableText } from '../../lib/text/storable.ts';
import type { FetchAnswer, SendRequest } from './fetch.ts';

/** The guarded ways out; `plain` is for requests without encryption, and keeps bytes. */
interface WaysOut {
  secure: Pick<OutboundHttp, 'request'>;
  plain: Pick<OutboundHttp, 'request'>;
}

/** Sends requests of bots by the guarded ways out; `maxBytes` is the bound on answers. */
export function sendOutbound({ secure, plain }: WaysOut, maxBytes: number): SendRequest {
  return async ({ url, method, headers, body, isPlain }, signal) => {
    const outbound = isPlain ? plain : secure;
    const message = { method, headers: { ...headers }, signal, ...(body === undefined ? {} : { body }) };
    return answerOf(await outbound.request(url, message), maxBytes);
  };
}

function answerOf(
  { status, headers, body: text, bytes, bodyCut, errorCode }: OutboundResult,
  maxBytes: number,
): FetchAnswer {
  const body = bytes?.toString() ?? text;
  if (status === null) {
    const code = errorCode ?? 'connect';
    return { problem: { code, message: sentenceOf(code) } };
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity' && encoding !== '') {
    return problem('bad_response', 'The answer is compressed, although the request asked for none');
  }
  // The decoder leaves out an incomplete character at the end.
  if ((bodyCut || bytes) && Buffer.byteLength(body) > maxBytes - 4)
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
