import { noDial, takeDialTimes, type DialTimes } from './dial-times.ts';
import { allHeaders, bodyText, failureOf } from './result.ts';
import type { OutboundFailure, OutboundResult } from './result.ts';

/** Aborts a request; the HTTP client passes it to the exchange when the request starts. */
export interface WireControl {
  abort(reason: Error): void;
}

type IncomingHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The limits of one exchange. */
export interface ExchangeLimits {
  /** The deadline of the whole call in milliseconds: wait for a connection, DNS, connect, request, headers and body. */
  readonly timeoutMs: number;
  /** The number of bytes that are read of the answer's body. */
  readonly maxResponseBytes: number;
  readonly keepsBytes?: true;
}

/**
 * A request and its answer. Implements the HTTP client's callbacks (undici's DispatchHandler) and resolves `result`
 * once: when the answer is complete, has reached its size limit, is overdue or has failed. Later callbacks are ignored,
 * and the socket is destroyed.
 */
export class Exchange {
  readonly result: Promise<OutboundResult>;
  /** The address of the request's socket; set by `observeSockets` in connections.ts. */
  remoteAddress: string | null = null;
  /** The times of the connection that was opened for the request; set by `observeSockets` too. */
  dialTimes: DialTimes = noDial;
  /** Called when the request is about to be written to a socket. */
  beforeStart: (exchange: Exchange) => void = () => {};

  readonly #startedAt = performance.now();
  readonly #limits: ExchangeLimits;
  readonly #signal: AbortSignal | undefined;
  readonly #deadline: NodeJS.Timeout;
  readonly #resolve: (result: OutboundResult) => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #wire: WireControl | null = null;
  #status: number | null = null;
  #headers: Record<string, string> = {};
  #firstByteMs: number | null = null;
  #ended = false;

  constructor(limits: ExchangeLimits, signal?: AbortSignal) {
    const { promise, resolve } = Promise.withResolvers<OutboundResult>();
    this.result = promise;
    this.#resolve = resolve;
    this.#limits = limits;
    this.#signal = signal;
    this.#deadline = setTimeout(this.#onDeadline, limits.timeoutMs);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted === true) this.#onAbort();
  }

  /** True once `result` is resolved. */
  get ended(): boolean {
    return this.#ended;
  }

  onRequestStart(wire: WireControl): void {
    // The deadline passed while the request waited for a connection: it must not be sent any more.
    if (this.#ended) return wire.abort(new Error('The exchange is over.'));
    this.#wire = wire;
    this.beforeStart(this);
  }

  onResponseStart(_wire: WireControl, status: number, headers: IncomingHeaders): void {
    // An informational answer (1xx) precedes the final one.
    if (status < 200) return;
    this.#status = status;
    this.#headers = allHeaders(headers);
    this.#firstByteMs = this.#sinceStart();
  }

  onResponseData(_wire: WireControl, chunk: Buffer): void {
    const room = this.#limits.maxResponseBytes - this.#bytes;
    this.#chunks.push(chunk.subarray(0, room));
    this.#bytes += Math.min(room, chunk.length);
    if (chunk.length > room) this.#stop(null);
  }

  onResponseEnd(): void {
    this.#end(null, false);
  }

  onResponseError(_wire: WireControl | null, error: Error): void {
    if (this.remoteAddress === null) this.dialTimes = takeDialTimes(error);
    this.#end(failureOf(error), true);
  }

  readonly #onDeadline = (): void => {
    const missing = this.#wire === null ? 'no connection' : 'no answer';
    this.#stop({ errorCode: 'timeout', errorDetail: `${missing} within ${this.#limits.timeoutMs} ms` });
  };

  readonly #onAbort = (): void => this.#stop({ errorCode: 'aborted', errorDetail: 'ended by the caller' });

  /** Aborts the exchange; a status that has already arrived stays in the result. */
  #stop(failure: OutboundFailure | null): void {
    this.#end(failure, true);
    this.#wire?.abort(new Error('The exchange is over.'));
  }

  #end(failure: OutboundFailure | null, bodyCut: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#deadline);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    const status = this.#status;
    this.#resolve({
      ok: status !== null && status < 300,
      status,
      headers: this.#headers,
      ...this.#content(),
      bodyCut: status !== null && bodyCut,
      errorCode: status === null ? (failure?.errorCode ?? 'bad_response') : null,
      errorDetail: status === null ? (failure?.errorDetail ?? 'it ended without a status') : null,
      durationMs: this.#sinceStart(),
      times: { ...this.dialTimes, firstByte: this.#firstByteMs },
      remoteAddress: this.remoteAddress,
    });
  }

  #content(): Pick<OutboundResult, 'body' | 'bytes'> {
    if (this.#limits.keepsBytes) return { body: '', bytes: Buffer.concat(this.#chunks) };
    return { body: bodyText(this.#chunks, this.#headers['content-encoding']) };
  }

  #sinceStart(): number {
    return Math.round(performance.now() - this.#startedAt);
  }
}
