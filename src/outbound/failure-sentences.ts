import type { OutboundErrorCode } from './result.ts';

/** Why a call has no status, in a sentence for people, without a dot. */
export function sentenceOf(code: OutboundErrorCode): string {
  return sentences[code];
}

const sentences: Readonly<Record<OutboundErrorCode, string>> = {
  blocked_address: 'The host is not a public address. The operator can open private ranges with OUTBOUND_ALLOW_CIDRS',
  bad_url: 'The URL cannot be called',
  bad_request: 'The request is not valid HTTP',
  outbound_held: 'This service sends nothing: its database is a copy, or OUTBOUND is off',
  dns: 'The host cannot be resolved',
  connect: 'The host does not accept connections',
  tls: 'The certificate of the host is not valid',
  timeout: 'The answer took too long',
  reset: 'The connection broke',
  headers_overflow: 'The headers of the answer are too large',
  bad_response: 'The answer is no HTTP',
  aborted: 'The run ended before the answer came',
};
