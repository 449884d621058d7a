import type { OutboundErrorCode, OutboundHttp, OutboundResult } from '../outbound/http.ts';
import { sentenceOf } from '../outbound/failure-sentences.ts';

/** A file as a bot sends it. */
export interface SentFile {
  name: string;
  bytes: Buffer;
}

/** Gets the file at a URL. Errors: FileError. */
export type FetchFile = (file: FileSource, signal: AbortSignal) => Promise<SentFile>;

/** The place of a file; null for its own name. `headers` of the request have their secrets in clear. */
interface FileSource {
  url: string;
  name: string | null;
  headers?: Readonly<Record<string, string>>;
}

/** Why a file of a bot cannot be sent: for good, or perhaps only now. Its message is for authors. */
export class FileError extends Error {
  override name = 'FileError';
  readonly outcome: 'attachment_failed' | 'attachment_unavailable';

  constructor(outcome: FileError['outcome'], message: string) {
    super(message);
    this.outcome = outcome;
  }
}

/** The guarded ways out, which keep bytes: for https, and for hosts of the operator that are called without encryption. */
interface WaysOut {
  secure: Pick<OutboundHttp, 'request'>;
  plain: Pick<OutboundHttp, 'request'>;
}

/** Gets files; `maxBytes` is the bound of the ways out on answers. No redirect is followed. */
export function fetchOutbound({ secure, plain }: WaysOut, maxBytes: number): FetchFile {
  return async ({ url, name, headers = {} }, signal) => {
    const outbound = URL.parse(url)?.protocol === 'http:' ? plain : secure;
    const result = await outbound.request(url, { method: 'GET', headers: { ...headers, accept: '*/*' }, signal });
    return { name: name ?? nameIn(url), bytes: bytesOf(result, maxBytes) };
  };
}

const passing: ReadonlySet<OutboundErrorCode> = new Set(['dns', 'connect', 'timeout', 'reset', 'aborted']);
const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

function bytesOf({ status, ok, errorCode, headers, bytes, bodyCut }: OutboundResult, maxBytes: number): Buffer {
  if (status === null) throw notReached(errorCode ?? 'connect');
  if (!ok) throw notThere(status);
  if (!['identity', ''].includes(headers['content-encoding'] ?? ''))
    throw new FileError('attachment_failed', 'The answer is compressed, although the request asked for none');
  const found = bytes ?? Buffer.alloc(0);
  if (!bodyCut) return found;
  throw found.length >= maxBytes
    ? new FileError('attachment_failed', `A file may have ${maxBytes} bytes`)
    : new FileError('attachment_unavailable', 'The answer broke off, or took too long');
}

function notReached(code: OutboundErrorCode): FileError {
  return new FileError(passing.has(code) ? 'attachment_unavailable' : 'attachment_failed', sentenceOf(code));
}

function notThere(status: number): FileError {
  const isPassing = status >= 500 || passingStatuses.has(status);
  const words = `The host answered ${status}${status < 400 ? ', and redirects are not followed' : ''}`;
  return new FileError(isPassing ? 'attachment_unavailable' : 'attachment_failed', words);
}

/** The name of the file at a URL: the last part of its path. */
export function nameIn(url: string): string {
  const last = URL.parse(url)?.pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
