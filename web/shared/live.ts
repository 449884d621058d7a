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
/** From one view to the next nobody listens for a moment. */
const lingerMs = 5_000;

/**
 * The account's events as they happen: one stream for the whole page, as long as anybody listens. After a break it goes on
 * where it was; where that is too long ago, and where it begins, listeners are told that they may have missed something.
 */
export class Live {
  readonly state = new Store<LiveState>('waiting');
  /** Why there is no connection: the sentence of the last try; null while there is one, and before the first try. */
  readonly problem = new Store<string | null>(null);
  readonly #options: LiveOptions;
  readonly #listeners = new Set<(event: LiveEvent | 'missed') => void>();
  #stream: AbortController | null = null;
  #cursor: string | null = null;
  #pauseMs = firstPauseMs;
  #lastSign = 0;
  #timer: ReturnType<typeof setInterval> | null = null;
  #leaving: ReturnType<typeof setTimeout> | undefined;
  #wake: (() => void) | null = null;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  /**
   * Tells every event from now on, and `missed` where some may not have been told: then what is shown is to be read anew.
   * That is so whenever a stream begins, as what was read before may be older. Returns what ends the telling.
   */
  listen(listener: (event: LiveEvent | 'missed') => void): () => void {
    this.#listeners.add(listener);
    clearTimeout(this.#leaving);
    if (this.#timer === null) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#leaving = setTimeout(() => this.stop(), lingerMs);
    };
  }

  /** Ends the stream, for another account or nobody; listeners stay for the next one. */
  stop(): void {
    clearTimeout(this.#leaving);
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    removeEventListener('online', this.#hurry);
    document.removeEventListener('visibilitychange', this.#hurry);
    this.#stream?.abort();
    this.#stream = null;
    this.#cursor = null;
    this.#wake?.();
    this.state.set('waiting');
    this.problem.set(null);
  }

  /** Begins anew, where anybody listens: for whoever has signed in. */
  restart(): void {
    this.stop();
    if (this.#listeners.size > 0) this.#start();
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
    const isOwn = (): boolean => this.#timer === own;
    while (isOwn()) {
      const control = new AbortController();
      this.#stream = control;
      this.#lastSign = Date.now();
      const stream = await this.#open(control.signal).catch((error: unknown) => {
        if (isOwn()) this.#refused(error);
      });
      if (stream && isOwn()) {
        this.#begin();
        // One that breaks goes on with the next.
        await this.#read(stream, isOwn).catch(() => control.abort());
      }
      if (!isOwn()) return;
      this.state.set('waiting');
      await this.#pause();
    }
  }

  async #open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { call, account } = this.#options;
    const { ticket } = await call('POST events/ticket', { signal }).catch((error: unknown) => {
      // Whoever is signed out is not let in later either.
      if (error instanceof ServiceError && error.status === 401) {
        this.stop();
        this.problem.set(error.message);
      }
      throw error;
    });
    const query = { ticket, after: this.#cursor ?? undefined };
    const url = urlOf('events/stream', { account_id: account() }, query);
    const response = await fetch(url, { signal, headers: { accept: 'text/event-stream' } }).catch(() => {
      throw unreachable();
    });
    if (!response.ok || !response.body) throw errorOf(response.status, await response.json().catch(() => null));
    return response.body;
  }

  #begin(): void {
    this.#pauseMs = firstPauseMs;
    this.#lastSign = Date.now();
    // It tells what happens from now on: nobody tells what has happened since the views were loaded.
    if (this.#cursor === null) this.#tell('missed');
    this.problem.set(null);
    this.state.set('live');
  }

  #refused(error: unknown): void {
    const refusal = error instanceof ServiceError ? error : unreachable();
    // What happened behind the cursor is not kept any more: the next stream begins anew.
    if (refusal.status === 410) this.#cursor = null;
    else this.problem.set(refusal.message);
  }

  async #read(stream: ReadableStream<Uint8Array>, isOwn: () => boolean): Promise<void> {
    await readEvents(stream, {
      event: ({ data }) => {
        if (isOwn()) this.#tell(JSON.parse(data) as LiveEvent);
      },
      place: (cursor) => {
        if (isOwn()) this.#cursor = cursor;
      },
      sign: () => (this.#lastSign = Date.now()),
    });
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
