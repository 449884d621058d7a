import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../postgres/database.ts';
import { placeEvents } from './feed.ts';

export interface FeedPumpOptions {
  database: Database;
  pollMs: number;
  failed: (error: unknown) => void;
}

// One transaction places what many have committed meanwhile.
const gatherMs = 20;

/** Gives events their positions in the feed, soon after they were committed: when poked, and every `pollMs`. */
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

  /** Says that events may have been committed. */
  poke(): void {
    this.#again = true;
    if (!this.#stopped) this.#running ??= this.#run();
  }

  /** Resolves when what is under way has ended; events without a position wait for whoever comes next. */
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
