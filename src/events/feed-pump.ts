import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../postgres/database.ts';
import { isAnyUnplaced, placeEvents } from './feed.ts';

export interface FeedPumpOptions {
  database: Database;
  /** Milliseconds until the first look, and after one that found something; further looks grow rare. */
  pollMs: number;
  failed: (error: unknown) => void;
  /** Called with the accounts whose feeds have become longer. */
  placed: (accounts: readonly number[]) => void;
}

// Waits a moment, so that one transaction places the events of many.
const gatherMs = 100;
/** Looks grow rare while there is nothing to place, up to this many times the poll's interval. */
const maxQuiet = 20;

/** Gives committed events their positions in the feed: when poked, and now and then for what nobody announced. */
export class FeedPump {
  readonly #options: FeedPumpOptions;
  #pauseMs: number;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #again = false;
  #stopped = false;

  constructor(options: FeedPumpOptions) {
    this.#options = options;
    this.#pauseMs = options.pollMs;
  }

  start(): void {
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
    if (this.#timer) clearTimeout(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { database, failed, placed } = this.#options;
    while (this.#again && !this.#stopped) {
      await wait(gatherMs);
      this.#again = false;
      await placeEvents(database, failed, placed).catch(failed);
    }
    this.#rest();
  }

  #rest(): void {
    this.#running = null;
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running ??= this.#look();
    }, this.#pauseMs);
  }

  async #look(): Promise<void> {
    const { database, failed, pollMs } = this.#options;
    this.#pauseMs = Math.min(maxQuiet * pollMs, 2 * this.#pauseMs);
    const isMissed = await isAnyUnplaced(database).catch(failed);
    if (isMissed !== false) this.#pauseMs = pollMs;
    if (isMissed) this.#again = true;
    if (this.#again) return this.#run();
    this.#rest();
  }
}
