/**
 * Why a call got no status. `bad_url`, `blocked_address` and `bad_request` are refused before anything is sent;
 * `aborted` means that our side gave up (the caller's signal, or shutdown).
 */
export type OutboundErrorCode =
  | 'bad_url'
  | 'blocked_address'
  | 'bad_request'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'headers_overflow'
  | 'bad_response'
  | 'aborted';

/** What became of one call. */
export interface OutboundResult {
  /** True for a 2xx status whose headers arrived in time. */
  readonly ok: boolean;
  /** The status, once final headers arrived in time; else null. */
  readonly status: number | null;
  /** Those of content-encoding, content-type, location, retry-after, server and x-request-id that came; 512 chars each. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the answer as text without NUL; empty when it came compressed. */
  readonly body: string;
  /** True when the answer was longer, slower or sooner broken off than what `body` holds. */
  readonly bodyCut: boolean;
  /** Null exactly when `status` is not. */
  readonly errorCode: OutboundErrorCode | null;
  /** The system's or library's own word for the error (`ECONNREFUSED`, `CERT_HAS_EXPIRED`, …), where it has one. */
  readonly errorDetail: string | null;
  /** From the call to its result, in milliseconds. */
  readonly durationMs: number;
  /** The address that the request was written to; null when none was. */
  readonly remoteAddress: string | null;
}

/** A failure as the result reports it. */
export interface OutboundFailure {
  readonly errorCode: OutboundErrorCode;
  readonly errorDetail: string | null;
}

/** The host has an address that may not be called. Carries no address: the message may reach a log of the tenant. */
export class BlockedAddressError extends Error {
  override name = 'BlockedAddressError';
}

/** The host has no address. */
export class UnresolvedHostError extends Error {
  override name = 'UnresolvedHostError';
  readonly code: string;

  constructor(code: string) {
    super(`The host cannot be resolved: ${code}`);
    this.code = code;
  }
}

const keptHeaderNames = ['content-encoding', 'content-type', 'location', 'retry-after', 'server', 'x-request-id'];
const maxHeaderChars = 512;

const errorCodesOf: Readonly<Record<string, OutboundErrorCode>> = {
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'headers_overflow',
  UND_ERR_SOCKET: 'reset',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_INVALID_ARG: 'bad_request',
  UND_ERR_NOT_SUPPORTED: 'bad_request',
  UND_ERR_DESTROYED: 'aborted',
  UND_ERR_CLOSED: 'aborted',
};
const badResponseCode = /^UND_ERR_RES_/;
const tlsCode = /^(ERR_TLS|ERR_SSL|EPROTO$|CERT_|CRL_|DEPTH_|ERROR_IN_C|HOSTNAME_|INVALID_|PATH_|SELF_|UNABLE_TO_)/;

/** The result of a call that was refused before anything was sent. */
export function refusedResult(failure: OutboundFailure): OutboundResult {
  return {
    ok: false,
    status: null,
    headers: {},
    body: '',
    bodyCut: false,
    ...failure,
    durationMs: 0,
    remoteAddress: null,
  };
}

/** Names a failure of the HTTP client. What it does not know is `connect`, with the error's own code beside it. */
export function failureOf(error: Error): OutboundFailure {
  if (error instanceof BlockedAddressError) return { errorCode: 'blocked_address', errorDetail: null };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (error instanceof UnresolvedHostError) return { errorCode: 'dns', errorDetail: code };
  // undici's parser errors carry no code.
  if (error.name === 'HTTPParserError') return { errorCode: 'bad_response', errorDetail: error.name };
  return { errorCode: code === null ? 'connect' : errorCodeOf(code), errorDetail: code };
}

/** The few response headers that are worth keeping, by lower-case name. */
export function keptHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of keptHeaderNames) {
    const value = headers[name];
    if (value !== undefined) kept[name] = String(value).slice(0, maxHeaderChars);
  }
  return kept;
}

/**
 * The first bytes of an answer as text that PostgreSQL can store. A compressed answer gives no text: it is never
 * decompressed, so that no answer grows on our side.
 */
export function bodyText(chunks: readonly Buffer[], contentEncoding: string | undefined): string {
  if (contentEncoding !== undefined && contentEncoding !== '' && contentEncoding !== 'identity') return '';
  // In stream mode a character that the cut went through is left out.
  const text = new TextDecoder('utf-8').decode(Buffer.concat(chunks), { stream: true });
  return text.replaceAll('\0', '\uFFFD');
}

function errorCodeOf(code: string): OutboundErrorCode {
  const known = errorCodesOf[code];
  if (known !== undefined) return known;
  if (badResponseCode.test(code)) return 'bad_response';
  return tlsCode.test(code) ? 'tls' : 'connect';
}
