import { namesInJson } from '../domain/upkeep/named-records.ts';
import type { Clock } from '../lib/ports.ts';
import { signatureProblem, type Signer } from './signature.ts';

/** How the receiver answers: 200, 500, never, 200 after some seconds, or 410, which switches a webhook off. */
export const playModes = ['ok', 'fail', 'hang', 'slow', 'gone'] as const;

export type PlayMode = (typeof playModes)[number];

/** A post as it came in. */
export interface Post {
  path: string;
  /** Takes a lower-case name. */
  header: (name: string) => string;
  body: Buffer;
  /** Aborted when its sender has gone. */
  signal: AbortSignal;
}

/** A webhook whose secret may have signed a post. */
export interface PlayWebhook extends Signer {
  id: number;
  account_id: number;
  name: string | null;
}

/** A post that the receiver keeps, as it is shown. */
export interface KeptPost {
  id: number;
  /** ISO 8601. */
  received_at: string;
  path: string;
  /** The header `webhook-id`: the same in all attempts. */
  webhook_id: string | null;
  attempt: number | null;
  event: string | null;
  /** Whether a webhook of this service with this URL has signed it. */
  verified: boolean;
  /** Why not. */
  problem: string | null;
  webhook: Omit<PlayWebhook, 'secrets'> | null;
  /** The webhook's account, else the account that the body names. */
  account_id: number | null;
  /** The beginning of the body; empty where a record in it was erased. */
  body: string;
  /** Size of the whole body. */
  bytes: number;
  /** Status of the answer; null before there is one. */
  status: number | null;
}

export interface ReceiverOptions {
  clock: Clock;
  /** The webhooks of this service that post to the path. */
  webhooksAt: (path: string) => Promise<PlayWebhook[]>;
  /** The names of records, of an account, that are erased. */
  findErased: (accountId: number, names: readonly string[]) => Promise<ReadonlySet<string>>;
}

const keptPosts = 200;
const keptChars = 16_384;
const keptPathChars = 200;
const slowMs = 3_000;
/** As long as nobody waits anyway. */
const hangMs = 60_000;
const heldAtMost = 100;
const unavailable = 503;

/** Takes webhooks, keeps the last 200 of them in memory, and answers according to its mode. */
export class Receiver {
  mode: PlayMode = 'ok';
  readonly #options: ReceiverOptions;
  readonly #held = new Set<AbortController>();
  #kept: KeptPost[] = [];
  /** Names of the records in the bodies. */
  readonly #names = new WeakMap<KeptPost, readonly string[]>();
  #last: number;
  #isStopping = false;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    // Starts above all ids of an earlier start, so that a reader that continues from one of those misses nothing.
    this.#last = options.clock.now().getTime();
  }

  /** The posts with a higher id, newest first; the bodies of those about records that were erased since are forgotten. */
  async postsAfter(id: number): Promise<KeptPost[]> {
    await this.#forgetErased();
    return this.#kept.filter((post) => post.id > id).toReversed();
  }

  /** Keeps a post; resolves with the status to answer, when it is time to. */
  async receive(post: Post): Promise<number> {
    const signers = await this.#options.webhooksAt(post.path);
    const kept = keep(post, { id: (this.#last += 1), now: this.#options.clock.now(), signers });
    this.#kept = [...this.#kept.slice(1 - keptPosts), kept];
    this.#names.set(kept, namesIn(kept, post));
    const status = await this.#statusFor(post.signal);
    kept.status = post.signal.aborted ? null : status;
    return status;
  }

  /** Lets go of the senders that wait for an answer, and answers 503 from now on. */
  stop(): void {
    this.#isStopping = true;
    for (const waiting of this.#held) waiting.abort();
  }

  async #forgetErased(): Promise<void> {
    const byAccount = Map.groupBy(this.#kept, (post) => (this.#names.has(post) ? post.account_id : null));
    for (const [accountId, posts] of byAccount) {
      if (accountId === null) continue;
      const names = new Set(posts.flatMap((post) => this.#names.get(post) ?? []));
      const erased = await this.#options.findErased(accountId, [...names]);
      for (const post of posts) {
        if (!this.#names.get(post)?.some((name) => erased.has(name))) continue;
        post.body = '';
        this.#names.delete(post);
      }
    }
  }

  async #statusFor(signal: AbortSignal): Promise<number> {
    const { mode } = this;
    if (this.#isStopping) return unavailable;
    if (mode === 'fail') return 500;
    if (mode === 'gone') return 410;
    if (mode === 'slow') return (await this.#hold(slowMs, signal)) ? 200 : unavailable;
    if (mode === 'hang') await this.#hold(hangMs, signal);
    return mode === 'hang' ? unavailable : 200;
  }

  /** False when it ended before its time. */
  async #hold(ms: number, signal: AbortSignal): Promise<boolean> {
    if (this.#held.size >= heldAtMost) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const held = new AbortController();
    this.#held.add(held);
    const timer = setTimeout(() => resolve(true), ms);
    for (const ended of [held.signal, signal]) ended.addEventListener('abort', () => resolve(false), { once: true });
    if (signal.aborted) resolve(false);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#held.delete(held);
    }
  }
}

// Leaves out tests, whose records never existed, and deletions, whose records are gone anyway.
function namesIn({ event, verified }: KeptPost, { header, body }: Post): string[] {
  if (!verified || header('webhook-test') !== '') return [];
  const names = namesInJson(fieldsOf(body.toString()));
  const [, deleted] = /^(\w+)_deleted$/.exec(event ?? '') ?? [];
  return deleted === undefined ? names : names.filter((name) => !name.startsWith(deleted));
}

function keep(post: Post, { id, now, signers }: { id: number; now: Date; signers: readonly PlayWebhook[] }): KeptPost {
  const { header, body } = post;
  const signed = { id: header('webhook-id'), timestamp: header('webhook-timestamp'), body };
  const found = signatureProblem({ ...signed, signature: header('webhook-signature') }, signers, now);
  const { signer, problem } = found;
  const text = body.toString();
  const { event, account } = fieldsOf(text);
  const attempt = Number(header('webhook-attempt'));
  return {
    id,
    received_at: now.toISOString(),
    path: post.path.slice(0, keptPathChars),
    webhook_id: header('webhook-id').slice(0, keptPathChars) || null,
    attempt: Number.isSafeInteger(attempt) && attempt > 0 ? attempt : null,
    event: typeof event === 'string' ? event.slice(0, keptPathChars) : null,
    verified: signer !== null,
    problem,
    webhook: signer && { id: signer.id, account_id: signer.account_id, name: signer.name },
    account_id: signer?.account_id ?? accountIn(account),
    body: text.slice(0, keptChars).toWellFormed(),
    bytes: body.length,
    status: null,
  };
}

function fieldsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function accountIn(account: unknown): number | null {
  const { id } = (typeof account === 'object' && account !== null ? account : {}) as { id?: unknown };
  return Number.isSafeInteger(id) ? (id as number) : null;
}
