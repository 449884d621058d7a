import { pause } from './follow.ts';
import { Refusal, type Message } from './service.ts';

/** A message that waits, or was refused. */
export interface Queued {
  /** The same for every try, so that the service takes the message once. */
  key: string;
  content: string;
  files: readonly File[];
  /** The message that asked for it; null for what was written of one's own accord. */
  answers: number | null;
  /** Messages above this id came after it was written. */
  after: number;
  /** Why it was refused; null while it waits. */
  refused: string | null;
}

interface OutboxOptions {
  send: (queued: Queued) => Promise<Message>;
  sent: (message: Message) => void;
  changed: () => void;
  /** Gets what the service would not take now, and later may: returns what to do before the next try. */
  failed: (refusal: Refusal) => Promise<void>;
}

const firstWaitMs = 500;
const longestWaitMs = 10_000;

/** Sends messages one after the other, each until the service has taken or refused it. */
export class Outbox {
  queue: readonly Queued[] = [];
  readonly #options: OutboxOptions;
  #isSending = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Whether a message waits that would be lost with the page. */
  get isWaiting(): boolean {
    return this.queue.some(({ refused }) => refused === null);
  }

  add(message: Omit<Queued, 'key' | 'refused'>): void {
    this.#set([...this.queue, { ...message, key: newKey(), refused: null }]);
    void this.#run();
  }

  remove({ key }: Queued): void {
    this.#set(this.queue.filter((queued) => queued.key !== key));
  }

  async #run(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    let waitMs = firstWaitMs;
    for (;;) {
      const next = this.queue.find(({ refused }) => refused === null);
      if (!next) break;
      const refusal = await this.#try(next);
      if (!refusal) waitMs = firstWaitMs;
      else {
        await pause(Math.max(waitMs, refusal.retryAfter * 1000));
        waitMs = Math.min(waitMs * 2, longestWaitMs);
      }
    }
    this.#isSending = false;
  }

  /** Returns why it is to be tried again; null when that is over. */
  async #try(next: Queued): Promise<Refusal | null> {
    const { send, sent, failed } = this.#options;
    try {
      const message = await send(next);
      this.remove(next);
      sent(message);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(0);
      if (refusal.mayPass || refusal.status === 401) {
        await failed(refusal);
        return refusal;
      }
      this.#set(this.queue.map((one) => (one.key === next.key ? { ...one, refused: refusal.message } : one)));
    }
    return null;
  }

  #set(queue: readonly Queued[]): void {
    this.queue = queue;
    this.#options.changed();
  }
}

// crypto.randomUUID is for pages of https alone.
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
