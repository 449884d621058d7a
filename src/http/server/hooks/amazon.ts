import type { X509Certificate } from 'node:crypto';
import { isSignedBy, readCertificate, readSns, type SnsMessage } from '../../../domain/hooks/sns.ts';
import type { SignatureProblem } from '../../../domain/hooks/signatures.ts';
import type { Clock } from '../../../lib/ports.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import { notReady, refused } from './read-request.ts';

/** Calls a URL of Amazon, which was checked before; never rejects. */
export type GetFromAmazon = (url: string) => Promise<{ ok: boolean; body: string; bodyCut: boolean }>;

const keptMs = 24 * 3_600_000;
const maxCertificates = 50;

interface Kept {
  certificate: X509Certificate;
  readAt: number;
}

/**
 * Checks messages of Amazon SNS by the certificates that they name, which are kept for a day, and confirms subscriptions. Calls are
 * made outside of transactions, and only for a topic that the account has set.
 */
export class AmazonSns {
  readonly #get: GetFromAmazon;
  readonly #clock: Clock;
  readonly #calls: RateLimit;
  readonly #kept = new Map<string, Kept>();
  readonly #underWay = new Map<string, Promise<X509Certificate>>();

  /** `calls` limits the calls for one hook. */
  constructor(get: GetFromAmazon, { clock, calls }: { clock: Clock; calls: RateLimit }) {
    this.#get = get;
    this.#clock = clock;
    this.#calls = calls;
  }

  /**
   * Returns a message of one of the topics that Amazon has signed, else what is wrong with it. Errors: 503 while the certificate cannot be
   * read, 429 for too many.
   */
  async verify(
    json: unknown,
    { topics, hookId }: { topics: readonly string[]; hookId: number },
  ): Promise<SnsMessage | SignatureProblem> {
    const message = readSns(json, { topics, now: this.#clock.now() });
    if (typeof message === 'string') return message;
    const certificate = await this.#certificateAt(message.certificateUrl, hookId);
    return isSignedBy(certificate, message) ? message : 'bad_signature';
  }

  /** Confirms the subscription that a verified message asks to confirm. Errors: 503 where Amazon does not, so that it asks again. */
  async confirm(subscribeUrl: string, hookId: number): Promise<void> {
    await this.#calls.take(hookId);
    const { ok } = await this.#get(subscribeUrl);
    if (!ok) throw refused(notReady(), 'not_confirmed');
  }

  async #certificateAt(url: string, hookId: number): Promise<X509Certificate> {
    const now = this.#clock.now();
    const kept = this.#kept.get(url);
    if (kept && now.getTime() - kept.readAt < keptMs && now.getTime() <= Date.parse(kept.certificate.validTo))
      return kept.certificate;
    const reading = this.#underWay.get(url) ?? this.#read(url, hookId).finally(() => this.#underWay.delete(url));
    this.#underWay.set(url, reading);
    return reading;
  }

  async #read(url: string, hookId: number): Promise<X509Certificate> {
    await this.#calls.take(hookId);
    const { ok, body, bodyCut } = await this.#get(url);
    const now = this.#clock.now();
    const certificate = ok && !bodyCut ? readCertificate(body, now) : null;
    if (!certificate) throw refused(notReady(), 'certificate_unavailable');
    if (this.#kept.size >= maxCertificates) this.#kept.clear();
    this.#kept.set(url, { certificate, readAt: now.getTime() });
    return certificate;
  }
}
