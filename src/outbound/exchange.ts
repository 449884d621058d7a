import { bodyText, failureOf, keptHeaders } from './result.ts';
import type { OutboundFailure, OutboundResult } from './result.ts';

/** What stops the request on the wire; the HTTP client hands one out when the request starts. */
export interface WireControl {
  abort(reason: Error): void;
}

type IncomingHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The bounds of one exchange. */
export interface ExchangeLimits {
  /** For everything: waiting for a connection, name, connect, request, headers, body. In milliseconds. */
  readonly timeoutMs: number;
  /** The most that is read of the answer's body, in bytes. */
  readonly maxResponseBytes: number;
}

/**
 * One request on its way: takes the HTTP client's callbacks (undici's DispatchHandler), and settles `result` exactly once:
 * when the answer is complete, long enough, overdue or failed. Whatever comes later is ignored, and the socket destroyed.
 */
export class Exchange {
  readonly result: Promise<OutboundResult>;
  /** Set by whoever sees the socket. */
  remoteAddress: string | null = null;
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
  #settled = false;

  constructor(limits: ExchangeLimits, signal?: AbortSignal) {
    const { promise, resolve } = Promise.withResolvers<OutboundResult>();
    this.result = promise;
    this.#resolve = resolve;
    this.#limits = limits;
    this.#signal = signal;
    this.#deadline = setTimeout(() => this.#stop({ errorCode: 'timeout', errorDetail: null }), limits.timeoutMs);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted === true) this.#onAbort();
  }

  /** True once `result` is decided. */
  get settled(): boolean {
    return this.#settled;
  }

  onRequestStart(wire: WireControl): void {
    // It waited for a connection beyond its deadline: nothing of it may be sent any more.
    if (this.#settled) return wire.abort(new Error('The exchange is over.'));
    this.#wire = wire;
    this.beforeStart(this);
  }

  onResponseStart(_wire: WireControl, status: number, headers: IncomingHeaders): void {
    // 100 to 199 only announce the real answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = keptHeaders(headers);
  }

  onResponseData(_wire: WireControl, chunk: Buffer): void {
    const room = this.#limits.maxResponseBytes - this.#bytes;
    this.#chunks.push(chunk.subarray(0, room));
    this.#bytes += Math.min(room, chunk.length);
    if (chunk.length > room) this.#stop(null);
  }

  onResponseEnd(): void {
    this.#settle(null, false);
  }

  onResponseError(_wire: WireControl | null, error: Error): void {
    this.#settle(failureOf(error), true);
  }

  readonly #onAbort = (): void => this.#stop({ errorCode: 'aborted', errorDetail: null });

  /** Ends the exchange from our side; a status that has arrived stands. */
  #stop(failure: OutboundFailure | null): void {
    this.#settle(failure, true);
    this.#wire?.abort(new Error('The exchange is over.'));
  }

  #settle(failure: OutboundFailure | null, bodyCut: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#deadline);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    const status = this.#status;
    this.#resolve({
      ok: status !== null && status < 300,
      status,
      headers: this.#headers,
      body: bodyText(this.#chunks, this.#headers['content-encoding']),
      bodyCut: status !== null && bodyCut,
      errorCode: status === null ? (failure?.errorCode ?? 'bad_response') : null,
      errorDetail: status === null ? (failure?.errorDetail ?? null) : null,
      durationMs: Math.round(performance.now() - this.#startedAt),
      remoteAddress: this.remoteAddress,
    });
  }
}
