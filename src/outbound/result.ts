import { noDial, type DialTimes } from './dial-times.ts';

/**
 * Why a call has no status. With `bad_url`, `blocked_address`, `bad_request` and `outbound_held` nothing was sent, with the last
 * because the service sends nothing at all now; `aborted` means that the caller's signal or a shutdown ended the call.
 */
export type OutboundErrorCode =
  | 'bad_url'
  | 'blocked_address'
  | 'bad_request'
  | 'outbound_held'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'headers_overflow'
  | 'bad_response'
  | 'aborted';

/** The result of one call. */
export interface OutboundResult {
  /** True if the status is 2xx. */
  readonly ok: boolean;
  /** The status, if the final headers arrived before the deadline; else null. */
  readonly status: number | null;
  /** The answer's headers by lower-case name, without cookies. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the answer's body as text without NUL; empty if the answer is compressed. */
  readonly body: string;
  /** The beginning of the body in its place, where the client keeps bytes. */
  readonly bytes?: Buffer;
  /** True if `body` is incomplete: the answer exceeded the size limit or the deadline, or the connection broke. */
  readonly bodyCut: boolean;
  /** Null if there is a status. */
  readonly errorCode: OutboundErrorCode | null;
  /** The error code of the system or library (`ECONNREFUSED`, `CERT_HAS_EXPIRED`, …), or what else says why; null with a status. */
  readonly errorDetail: string | null;
  /** The time from the call to its result, in milliseconds. */
  readonly durationMs: number;
  /** The times of the phases within it. */
  readonly times: OutboundTimes;
  /** The address that the request was sent to; null if nothing was sent. */
  readonly remoteAddress: string | null;
}

/**
 * Milliseconds of the phases of a call; null for one that it did not have or did not reach. A call on a connection that was
 * open already has no DNS, connect and TLS.
 */
export interface OutboundTimes extends DialTimes {
  /** From the call to the headers of the answer. */
  readonly firstByte: number | null;
}

/** The error fields of a result. */
export interface OutboundFailure {
  readonly errorCode: OutboundErrorCode;
  readonly errorDetail: string;
}

/** Thrown when a host has a forbidden address. Does not name the address: tenants may see the message. */
export class BlockedAddressError extends Error {
  override name = 'BlockedAddressError';

  constructor() {
    super('not a public address');
  }
}

/** Thrown when a host has no address. */
export class UnresolvedHostError extends Error {
  override name = 'UnresolvedHostError';
  readonly code: string;

  constructor(code: string) {
    super(`The host cannot be resolved: ${code}`);
    this.code = code;
  }
}

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
const maxDetailChars = 200;
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
    times: { ...noDial, firstByte: null },
    remoteAddress: null,
  };
}

/**
 * Translates an error of the HTTP client. An unknown error becomes `connect`, with its own code as detail, or what it says
 * where it has none.
 */
export function failureOf(error: Error): OutboundFailure {
  if (error instanceof BlockedAddressError) return { errorCode: 'blocked_address', errorDetail: error.message };
  if (error instanceof UnresolvedHostError) return { errorCode: 'dns', errorDetail: error.code };
  // undici's parser errors carry no code.
  if (error.name === 'HTTPParserError') return { errorCode: 'bad_response', errorDetail: error.name };
  const code = codeIn(error);
  if (code !== null) return { errorCode: errorCodeOf(code), errorDetail: code };
  return { errorCode: 'connect', errorDetail: `${error.name}: ${error.message}`.slice(0, maxDetailChars) };
}

// Several addresses fail together, each for a reason of its own.
function codeIn(error: Error): string | null {
  if ('code' in error && typeof error.code === 'string') return error.code;
  const within = error instanceof AggregateError ? (error.errors as unknown[]) : [error.cause];
  const codes = within.map((one) => (one instanceof Error ? codeIn(one) : null));
  return codes.find((code) => code !== null) ?? null;
}

/** The answer's headers by lower-case name, without cookies; a bound on all headers is that of the HTTP client. */
export function allHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const entries = Object.entries(headers).filter(([name]) => !name.startsWith('set-cookie'));
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

/**
 * Decodes the first bytes of an answer to text that PostgreSQL can store. Returns no text for a compressed answer:
 * decompressing it could produce far more bytes than the limit.
 */
export function bodyText(chunks: readonly Buffer[], contentEncoding: string | undefined): string {
  if (chunks.length === 0) return '';
  if (contentEncoding !== undefined && contentEncoding !== '' && contentEncoding !== 'identity') return '';
  // In stream mode the decoder omits an incomplete character at the end.
  const text = new TextDecoder('utf-8').decode(Buffer.concat(chunks), { stream: true });
  return text.replaceAll('\0', '\uFFFD');
}

function errorCodeOf(code: string): OutboundErrorCode {
  const known = errorCodesOf[code];
  if (known !== undefined) return known;
  if (badResponseCode.test(code)) return 'bad_response';
  return tlsCode.test(code) ? 'tls' : 'connect';
}
