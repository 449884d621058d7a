import { openGate, type OutboundGate } from '../lib/outbound-gate.ts';
import type { Clock } from '../lib/ports.ts';
import { createOutboundHttp, type OutboundHttp, type OutboundResult } from '../outbound/http.ts';
import { signV4, type Credentials } from './sign-v4.ts';

/** Where objects are kept, and how long it may take. */
export interface ObjectStoreOptions extends Credentials {
  /** The URL of the store, without a path. */
  endpoint: string;
  bucket: string;
  /** The longest request, in milliseconds; there are two at most. */
  timeoutMs: number;
  clock: Clock;
  /** No object is deleted while it is held: the bucket may be that of another installation. */
  gate: OutboundGate;
}

/** That the store did not do what it was asked for. The message is for the log. */
export class ObjectStoreError extends Error {
  override name = 'ObjectStoreError';
  /** Whether the store does not answer, or is at fault: then it would not do anything else either. */
  readonly isOutage: boolean;

  constructor(message: string, isOutage: boolean) {
    super(message);
    this.isOutage = isOutage;
  }
}

/** Bytes of an object that are read at once. */
export const partBytes = 1024 * 1024;

const tries = 2;
const connectionsPerOrigin = 32;
// The operator chose the store, which may well stand beside the service.
const everywhere = ['0.0.0.0/0', '::/0'];
const missing = 404;

/** Objects of bytes by key, in a bucket of a store that speaks as S3 does, by path. */
export class ObjectStore {
  readonly #options: ObjectStoreOptions;
  readonly #outbound: OutboundHttp;
  readonly #host: string;

  constructor(options: ObjectStoreOptions) {
    const { timeoutMs } = options;
    this.#options = options;
    this.#host = new URL(options.endpoint).host;
    this.#outbound = createOutboundHttp({
      // Objects are read and added, under keys of their own, by copies too.
      gate: openGate,
      allowCidrs: everywhere,
      timeoutMs,
      maxResponseBytes: partBytes,
      keepsBytes: true,
      connectionsPerOrigin,
    });
  }

  /** Keeps an object. Errors: ObjectStoreError. */
  async put(key: string, bytes: Buffer): Promise<void> {
    const result = await this.#ask('PUT', key, { body: bytes });
    if (!result.ok) throw this.#errorOf('PUT', key, result);
  }

  /** A part of an object, both ends included, of `partBytes` at most; null where there is no such object. Errors: ObjectStoreError. */
  async get(key: string, { from, to }: { from: number; to: number }): Promise<Buffer | null> {
    const result = await this.#ask('GET', key, { headers: { range: `bytes=${from}-${to}` } });
    if (result.status === missing) return null;
    const { ok, bytes, bodyCut } = result;
    if (ok && !bodyCut && bytes?.length === to - from + 1) return bytes;
    throw this.#errorOf('GET', key, result);
  }

  /** Deletes an object, if there is one. Errors: ObjectStoreError, also while the gate is held. */
  async remove(key: string): Promise<void> {
    if (this.#options.gate.heldFor !== null) throw new ObjectStoreError(`DELETE ${key}: nothing is sent`, true);
    const result = await this.#ask('DELETE', key, {});
    if (!result.ok && result.status !== missing) throw this.#errorOf('DELETE', key, result);
  }

  async close(): Promise<void> {
    await this.#outbound.close();
  }

  // Each request may be sent again: it comes to the same.
  async #ask(
    method: string,
    key: string,
    { headers = {}, body = null }: { headers?: Record<string, string>; body?: Buffer | null },
  ): Promise<OutboundResult> {
    const { endpoint, bucket, clock } = this.#options;
    const path = `/${bucket}/${key}`;
    for (let left = tries - 1; ; left -= 1) {
      const signed = signV4({ method, host: this.#host, path, headers, body }, this.#options, clock.now());
      const message = { method, headers: signed, ...(body ? { body } : {}) };
      const result = await this.#outbound.request(`${endpoint}${path}`, message);
      if (left === 0 || (result.status !== null && result.status < 500)) return result;
    }
  }

  #errorOf(method: string, key: string, { status, errorCode, errorDetail, bytes }: OutboundResult): ObjectStoreError {
    const [, code = ''] = /<Code>(\w{1,64})<\/Code>/.exec(bytes?.toString('latin1', 0, 2048) ?? '') ?? [];
    const answer = status === null ? `${errorCode ?? ''} ${errorDetail ?? ''}` : `${status} ${code}`;
    return new ObjectStoreError(`${method} ${key}: ${answer.trim()}`, status === null || status >= 500);
  }
}
