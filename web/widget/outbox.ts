import { pause } from '../shared/event-source.ts';
import { newKey } from '../shared/new-key.ts';
import { Refusal } from './refusal.ts';
import type { Message } from './service.ts';
import type { Way } from './upload.ts';

/** A message that waits, or was not sent. */
export interface Queued {
  /** The same for every try, so that the service takes the message once. */
  key: string;
  content: string;
  files: readonly File[];
  /** The message that asked for it, and the chosen value (null for an address); null for what was written of one's own accord. */
  answers: { id: number; value: string | null } | null;
  /** Messages above this id came after it was written. */
  after: number;
  /** When it was written. */
  at: number;
  /** How often it was tried in vain. */
  tries: number;
  /** How much of its files has gone, from 0 to 1. */
  progress: number;
  /** Error of the last try; empty where there was no response. */
  trouble: string;
  /** Why it is not tried any more; null while it is. */
  refusal: Refusal | null;
}

interface OutboxOptions {
  /** Gets null for what was said by a visitor who is not here any more. */
  send: (queued: Queued, way: Way) => Promise<Message | null>;
  sent: (message: Message) => void;
  changed: () => void;
  /** Gets what the service would not take now, and later may: returns what to do before the next try. */
  failed: (refusal: Refusal, queued: Queued) => Promise<void>;
}

const firstWaitMs = 500;
const longestWaitMs = 10_000;
const mostTries = 5;
/** Words wait this long for files that were sent before them, and are not held up longer. */
const orderMs = 10_000;
const lookMs = 200;

/**
 * Sends messages in the order in which they were written, each until the service has taken or refused it. Files are sent
 * beside the words: one that takes long, or fails, lets what was written after it pass.
 */
export class Outbox {
  queue: readonly Queued[] = [];
  readonly #options: OutboxOptions;
  /** The tries under way, by the key of their message. */
  readonly #trying = new Map<string, AbortController>();
  readonly #running = new Set<boolean>();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Whether something would be lost with the page that may still be sent. */
  get isWaiting(): boolean {
    return this.queue.some(({ refusal }) => refusal?.mayPass ?? true);
  }

  /** Whether it is on its way at this moment, or was just now. */
  isTrying({ key }: Queued): boolean {
    return this.#trying.has(key);
  }

  add(message: Pick<Queued, 'content' | 'files' | 'answers' | 'after'>): void {
    this.#set([
      ...this.queue,
      { ...message, key: newKey(), at: Date.now(), tries: 0, progress: 0, trouble: '', refusal: null },
    ]);
    this.#go();
  }

  /** Sends what was given up. */
  retry({ key }: Queued): void {
    this.#change(key, { tries: 0, trouble: '', refusal: null });
    this.#go();
  }

  /** Forgets a message, and ends its sending. */
  remove({ key }: Queued): void {
    this.#set(this.queue.filter((queued) => queued.key !== key));
    this.#trying.get(key)?.abort();
  }

  #go(): void {
    void this.#run(true);
    void this.#run(false);
  }

  async #run(areFiles: boolean): Promise<void> {
    if (this.#running.has(areFiles)) return;
    this.#running.add(areFiles);
    for (let next; (next = this.queue.find((one) => !one.refusal && hasFiles(one) === areFiles));) {
      if (this.#isHeld(next)) await pause(lookMs);
      else await this.#try(next);
    }
    this.#running.delete(areFiles);
  }

  #isHeld(next: Queued): boolean {
    if (hasFiles(next) || Date.now() - next.at > orderMs) return false;
    const before = this.queue.slice(0, this.queue.indexOf(next));
    return before.some((one) => hasFiles(one) && !one.refusal && one.tries === 0);
  }

  async #try(queued: Queued): Promise<void> {
    const { send, sent, failed } = this.#options;
    const { key } = queued;
    const { signal } = this.#begin(key);
    try {
      const progress = (share: number) => this.#change(key, { progress: share });
      const message = await send(queued, { signal, progress });
      this.remove(queued);
      if (message) sent(message);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(0);
      // Nobody wants it any more.
      if (!signal.aborted) await this.#fail(queued, refusal, failed);
      const waitMs = Math.min(firstWaitMs * 2 ** queued.tries, longestWaitMs);
      if (this.queue.some((one) => one.key === key && !one.refusal))
        await pause(waitMs, signal, refusal.retryAfter * 1000);
    }
    this.#trying.delete(key);
  }

  #begin(key: string): AbortController {
    const controller = new AbortController();
    this.#trying.set(key, controller);
    return controller;
  }

  async #fail(queued: Queued, refusal: Refusal, failed: OutboxOptions['failed']): Promise<void> {
    const tries = queued.tries + 1;
    const mayPass = refusal.mayPass || refusal.status === 401;
    if (mayPass) await failed(refusal, queued);
    const isOver = !mayPass || (tries >= mostTries && counts(queued, refusal));
    this.#change(queued.key, { tries, progress: 0, trouble: refusal.message, refusal: isOver ? refusal : null });
  }

  #change(key: string, changes: Partial<Queued>): void {
    this.#set(this.queue.map((one) => (one.key === key ? { ...one, ...changes } : one)));
  }

  #set(queue: readonly Queued[]): void {
    this.queue = queue;
    this.#options.changed();
  }
}

function hasFiles({ files }: Queued): boolean {
  return files.length > 0;
}

// Words wait for the connection, the service behind its proxy, and their turn, however long that takes; with files, it may
// be the files that are not borne.
function counts(queued: Queued, { status }: Refusal): boolean {
  if (hasFiles(queued)) return status !== 0 || navigator.onLine;
  return ![0, 429, 502, 503, 504].includes(status);
}
