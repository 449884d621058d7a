import type { Schemas } from '../../schemas/types.ts';
import { urlOf, type Call } from './call.ts';
import { readEvents } from './event-source.ts';
import { errorOf, ServiceError, unreachable } from './service-error.ts';
import { Store } from './store.ts';

/** An event of the account. */
export type LiveEvent = Schemas['resources/event'];

/** `live`: everything arrives; `waiting`: there is no connection at the moment, and what is missed comes later. */
export type LiveState = 'live' | 'waiting';

interface LiveOptions {
  call: Call;
  account: () => number | null;
}

const firstPauseMs = 500;
const lastPauseMs = 20_000;
/** The service shows its place every 15 seconds. */
const silenceMs = 40_000;
/** A request that was sent by a dead connection is answered never. */
const openMs = 15_000;
const watchMs = 5_000;

/**
 * The account's events as they happen: one stream for the whole page, as long as anybody listens. After a break it goes on
 * where it was; where that is too long ago, listeners are told that they have missed something.
 */
export class Live {
  readonly state = new Store<LiveState>('waiting');
  readonly #options: LiveOptions;
  readonly #listeners = new Set<(event: LiveEvent | 'missed') => void>();
  #stream: AbortController | null = null;
  #cursor: string | null = null;
  #pauseMs = firstPauseMs;
  #lastSign = 0;
  #timer: ReturnType<typeof setInterval> | null = null;
  #wake: (() => void) | null = null;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  /**
   * Tells every event from now on, and `missed` where some cannot be told any more: then what is shown is to be read anew.
   * Returns what ends that.
   */
  listen(listener: (event: LiveEvent | 'missed') => void): () => void {
    this.#listeners.add(listener);
    if (this.#timer === null) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.stop();
    };
  }

  /** Ends the stream, for another account or nobody; listeners stay for the next one. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    removeEventListener('online', this.#hurry);
    document.removeEventListener('visibilitychange', this.#hurry);
    this.#stream?.abort();
    this.#stream = null;
    this.#cursor = null;
    this.#wake?.();
    this.state.set('waiting');
  }

  #start(): void {
    this.#pauseMs = firstPauseMs;
    // A computer that slept has a dead connection that nobody told of.
    this.#timer = setInterval(() => this.#watch(), watchMs);
    addEventListener('online', this.#hurry);
    document.addEventListener('visibilitychange', this.#hurry);
    void this.#follow(this.#timer);
  }

  // Somebody looks at the page again, or the network is back: there is no reason to wait on.
  readonly #hurry = (): void => {
    if (document.visibilityState === 'hidden') return;
    this.#watch();
    this.#wake?.();
  };

  #watch(): void {
    const patienceMs = this.state.value === 'live' ? silenceMs : openMs;
    if (Date.now() - this.#lastSign > patienceMs) this.#stream?.abort();
  }

  async #follow(own: ReturnType<typeof setInterval>): Promise<void> {
    while (this.#timer === own) {
      this.#stream = new AbortController();
      try {
        await this.#read(this.#stream.signal, () => this.#timer === own);
      } catch (error) {
        if (this.#timer !== own) return;
        if (error instanceof ServiceError && error.status === 410) this.#miss();
        if (error instanceof ServiceError && error.status === 401) return this.stop();
      }
      if (this.#timer !== own) return;
      this.state.set('waiting');
      await this.#pause();
    }
  }

  async #read(signal: AbortSignal, isOwn: () => boolean): Promise<void> {
    const { call, account } = this.#options;
    this.#lastSign = Date.now();
    const { ticket } = await call('POST events/ticket', { signal });
    const query = { ticket, after: this.#cursor ?? undefined };
    const url = urlOf('events/stream', { account_id: account() }, query);
    const response = await fetch(url, { signal, headers: { accept: 'text/event-stream' } }).catch(() => {
      throw unreachable();
    });
    if (!response.ok || !response.body) throw errorOf(response.status, await response.json().catch(() => null));
    this.#pauseMs = firstPauseMs;
    this.#lastSign = Date.now();
    this.state.set('live');
    await readEvents(response.body, {
      event: ({ data }) => {
        if (isOwn()) this.#tell(JSON.parse(data) as LiveEvent);
      },
      place: (cursor) => {
        if (isOwn()) this.#cursor = cursor;
      },
      sign: () => (this.#lastSign = Date.now()),
    });
  }

  #miss(): void {
    this.#cursor = null;
    this.#tell('missed');
  }

  #tell(event: LiveEvent | 'missed'): void {
    for (const listener of this.#listeners) listener(event);
  }

  // Longer each time, and never the same for all browsers that a restart has cut.
  async #pause(): Promise<void> {
    const ms = this.#pauseMs * (0.5 + Math.random() / 2);
    this.#pauseMs = Math.min(lastPauseMs, this.#pauseMs * 2);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
  }
}
