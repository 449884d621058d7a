import { setImmediate as turn } from 'node:timers/promises';
import type { Database } from '../../postgres/database.ts';
import { isOutage } from '../../postgres/errors.ts';

/** A recurring task over rows: finding them and working on them. */
export interface SweepPlan<Item> {
  name: string;
  /** Identifies an item within the sweep; also used in the log. */
  nameOf: (item: Item) => string;
  /** Returns at most `pageSize` items after `after`, in a fixed order; null is the beginning. */
  page: (after: Item | null) => Promise<Item[]>;
  pageSize: number;
  /** Items in one call of `work`. When a call fails, it is repeated with halves, until the failing item is alone. */
  atOnce: number;
  /** Only items with the same value are passed to one call of `work`; by default all are. */
  together?: (item: Item) => unknown;
  /** Returns how much was done. Items that are done or no longer due must not make it fail. */
  work: (items: readonly Item[]) => Promise<number>;
  /** Whether an error would hit all other items too: it ends the sweep, which throws it. By default none does. */
  ends?: (error: unknown) => boolean;
}

const firstPauseMs = 10_000;
const lastPauseMs = 3_600_000;
// Beyond this number the oldest setback is forgotten, so that its item is tried again in the next sweep.
const maxSetbacks = 10_000;

interface Setback {
  pauseMs: number;
  until: number;
}

// Setbacks by names of sweep and item. Kept per process, since each process may find out by itself.
const setbacksOf = new WeakMap<Database, Map<string, Setback>>();

/**
 * Works on all items that the plan's pages return; returns how much was done. An item that fails does not hold back the
 * others: it is reported once at the end of the sweep and tried again at growing intervals, from 10 s to an hour. Throws
 * only when the database is unreachable, and errors that `ends` accepts.
 */
export function sweep<Item>(database: Database, plan: SweepPlan<Item>): Promise<number> {
  return new Sweep(database, plan).run();
}

// A fraction of a millisecond of a verb's work, so that a request waits no longer for a batch than for another request.
const itemsPerTurn = 20;

/** Yields the items of a batch, with pauses in which the process does other work, answering requests for example. */
export async function* inTurns<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  for (const [index, item] of items.entries()) {
    if (index % itemsPerTurn === 0) await turn();
    yield item;
  }
}

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
      // During an outage no item is at fault: the ping throws and ends the sweep.
      if (isOutage(error)) await this.#database.ping();
      if (this.#plan.ends?.(error)) throw error;
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

/** Reports the items that failed; all others were done. */
class SweepError extends Error {
  override name = 'SweepError';
}
