import type { Database } from '../../postgres/database.ts';
import { isOutage } from '../../postgres/errors.ts';

/** A recurring look at rows that something is to be done with. */
export interface SweepPlan<Item> {
  name: string;
  /** Names an item among those of this sweep, in the log too. */
  nameOf: (item: Item) => string;
  /** The items behind one, in a fixed order, at most `pageSize`; null stands for the beginning. */
  page: (after: Item | null) => Promise<Item[]>;
  pageSize: number;
  /** How many items are worked on at once; when that fails, they are halved until the one that cannot be done is alone. */
  atOnce: number;
  /** Only items for which this answers the same are worked on at once; unless given, all may be. */
  together?: (item: Item) => unknown;
  /** Answers how much it did. Items that are done by now, or not due any more, are none of a failure. */
  work: (items: readonly Item[]) => Promise<number>;
}

/** What a sweep could not do; all else that it found was done. */
class SweepError extends Error {
  override name = 'SweepError';
}

const firstPauseMs = 10_000;
const lastPauseMs = 3_600_000;
// What failed longest ago is tried again at once beyond this.
const maxSetbacks = 10_000;

interface Setback {
  pauseMs: number;
  until: number;
}

// By name of sweep and item; of one process, since nothing is lost when each process finds out for itself.
const setbacksOf = new WeakMap<Database, Map<string, Setback>>();

class Sweep<Item> {
  readonly #database: Database;
  readonly #plan: SweepPlan<Item>;
  readonly #setbacks: Map<string, Setback>;
  #done = 0;
  #failed = 0;
  #firstFailure: { name: string; cause: unknown } | null = null;

  constructor(database: Database, plan: SweepPlan<Item>) {
    this.#database = database;
    this.#plan = plan;
    this.#setbacks = setbacksOf.get(database) ?? new Map<string, Setback>();
    setbacksOf.set(database, this.#setbacks);
  }

  async run(): Promise<number> {
    const { page, pageSize } = this.#plan;
    for (let after: Item | null = null; ;) {
      const found: Item[] = await page(after);
      const due = found.filter((item) => this.#isDue(item));
      for (const items of this.#divide(due)) await this.#attempt(items);
      after = found.at(-1) ?? null;
      if (found.length < pageSize) break;
    }
    this.#tell();
    return this.#done;
  }

  #divide(items: readonly Item[]): Item[][] {
    const { atOnce, together = () => null } = this.#plan;
    return [...Map.groupBy(items, together).values()].flatMap((group) =>
      Array.from({ length: Math.ceil(group.length / atOnce) }, (_, at) => group.slice(at * atOnce, (at + 1) * atOnce)),
    );
  }

  async #attempt(items: readonly Item[]): Promise<void> {
    const [first] = items;
    if (first === undefined) return;
    try {
      this.#done += await this.#plan.work(items);
      for (const item of items) this.#setbacks.delete(this.#keyOf(item));
    } catch (error) {
      // Where the database is away, that is nobody's fault here: this throws, and ends the sweep.
      if (isOutage(error)) await this.#database.ping();
      if (items.length === 1) return this.#setBack(first, error);
      const middle = Math.ceil(items.length / 2);
      await this.#attempt(items.slice(0, middle));
      await this.#attempt(items.slice(middle));
    }
  }

  #keyOf(item: Item): string {
    return `${this.#plan.name}: ${this.#plan.nameOf(item)}`;
  }

  #isDue(item: Item): boolean {
    return (this.#setbacks.get(this.#keyOf(item))?.until ?? 0) <= this.#database.clock.now().getTime();
  }

  #setBack(item: Item, cause: unknown): void {
    const key = this.#keyOf(item);
    const before = this.#setbacks.get(key)?.pauseMs ?? 0;
    const pauseMs = Math.min(lastPauseMs, Math.max(firstPauseMs, before * 2));
    this.#setbacks.delete(key);
    this.#setbacks.set(key, { pauseMs, until: this.#database.clock.now().getTime() + pauseMs });
    const [oldest] = this.#setbacks.keys();
    if (this.#setbacks.size > maxSetbacks && oldest !== undefined) this.#setbacks.delete(oldest);
    this.#failed += 1;
    this.#firstFailure ??= { name: key, cause };
  }

  #tell(): void {
    if (this.#firstFailure === null) return;
    const { name, cause } = this.#firstFailure;
    const message = `${name} could not be done (${this.#failed} in all); ${this.#done} done`;
    this.#database.failed(new SweepError(message, { cause }));
  }
}

/**
 * Works on everything that the plan's pages answer; says how much was done. One item that fails keeps back no other: it is
 * passed over, told of once at the end of the sweep, and tried again at growing distance, from 10 s to an hour. Throws only
 * when the database is away.
 */
export function sweep<Item>(database: Database, plan: SweepPlan<Item>): Promise<number> {
  return new Sweep(database, plan).run();
}
