import type { Schemas } from '../../schemas/types.ts';
import { urlOf, type Call } from './call.ts';
import { followEvents, type ServerEvent } from './event-source.ts';
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
  #following: AbortController | null = null;
  #cursor: string | null = null;
  #leaving: ReturnType<typeof setTimeout> | undefined;

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
    if (!this.#following) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#leaving = setTimeout(() => this.stop(), lingerMs);
    };
  }

  /** Ends the stream, for another account or nobody; listeners stay for the next one. */
  stop(): void {
    clearTimeout(this.#leaving);
    this.#following?.abort();
    this.#following = null;
    this.#cursor = null;
    this.state.set('waiting');
    this.problem.set(null);
  }

  /** Begins anew, where anybody listens: for whoever has signed in. */
  restart(): void {
    this.stop();
    if (this.#listeners.size > 0) this.#start();
  }

  #start(): void {
    const own = new AbortController();
    this.#following = own;
    const source = {
      open: (signal: AbortSignal) => this.#open(signal),
      opened: () => this.#begin(),
      closed: (error: unknown) => {
        if (this.state.value === 'waiting') this.#refused(error);
        this.state.set('waiting');
      },
      event: ({ data }: ServerEvent) => this.#tell(JSON.parse(data) as LiveEvent),
      place: (cursor: string) => (this.#cursor = cursor),
    };
    void followEvents(source, own.signal);
  }

  async #open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { call, account } = this.#options;
    const { ticket } = await call('POST events/ticket', { signal }).catch((error: unknown) => {
      // A retry without a session is refused too.
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
    // It tells what happens from now on: nobody tells what has happened since the views were loaded.
    if (this.#cursor === null) this.#tell('missed');
    this.problem.set(null);
    this.state.set('live');
  }

  #refused(error: unknown): void {
    const refusal = error instanceof ServiceError ? error : unreachable();
    // Events behind the cursor are no longer kept: the next stream begins anew.
    if (refusal.status === 410) this.#cursor = null;
    else this.problem.set(refusal.message);
  }

  #tell(event: LiveEvent | 'missed'): void {
    for (const listener of this.#listeners) listener(event);
  }
}
