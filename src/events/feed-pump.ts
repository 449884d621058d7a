import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../postgres/database.ts';
import { placeEvents } from './feed.ts';

export interface FeedPumpOptions {
  database: Database;
  pollMs: number;
  failed: (error: unknown) => void;
}

// Waits a moment, so that one transaction places the events of many.
const gatherMs = 20;

/** Gives committed events their positions in the feed: when poked, and every `pollMs`. */
export class FeedPump {
  readonly #options: FeedPumpOptions;
  #poll: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #again = false;
  #stopped = false;

  constructor(options: FeedPumpOptions) {
    this.#options = options;
  }

  start(): void {
    this.#poll = setInterval(() => this.poke(), this.#options.pollMs);
    this.poke();
  }

  /** Announces that events may have been committed. */
  poke(): void {
    this.#again = true;
    if (!this.#stopped) this.#running ??= this.#run();
  }

  /** Resolves when the present batch is placed; the other events wait for the next process that places. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#poll) clearInterval(this.#poll);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { database, failed } = this.#options;
    while (this.#again && !this.#stopped) {
      await wait(gatherMs);
      this.#again = false;
      await placeEvents(database, failed).catch(failed);
    }
    this.#running = null;
  }
}
