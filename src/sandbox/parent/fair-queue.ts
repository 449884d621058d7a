/** The bot that an item belongs to, and its account: both take turns. */
export interface Owner {
  account: number;
  bot: number;
}

interface Owned {
  readonly owner: Owner;
}

/**
 * A queue that serves accounts in turn, within an account its bots in turn, and within a bot in order of arrival. A
 * full queue drops the newest item of the account with the most items, so that no account can crowd out another.
 */
export class FairQueue<Item extends Owned> {
  // Both maps are ordered by the last time served, longest ago first.
  readonly #accounts = new Map<number, Map<number, Item[]>>();
  readonly #limit: number;
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Appends an item to those of its bot, or puts it before them, then calls `takeNow`, in which a free process may take it.
   * If the queue is over its limit after that, drops an item and returns it; it may be the new one.
   */
  add(item: Item, takeNow: () => void, { first = false } = {}): Item | null {
    const { account, bot } = item.owner;
    const bots = this.#accounts.get(account) ?? new Map<number, Item[]>();
    const items = bots.get(bot) ?? [];
    if (first) items.unshift(item);
    else items.push(item);
    bots.set(bot, items);
    this.#accounts.set(account, bots);
    this.#size += 1;
    takeNow();
    return this.#size > this.#limit ? this.#dropNewestOfLargest() : null;
  }

  /** Removes and returns the next item in turn whose owner `mayBeTaken`; null when there is none. */
  take(mayBeTaken: (owner: Owner) => boolean): Item | null {
    for (const [account, bots] of this.#accounts) {
      for (const [bot, [first]] of bots) {
        if (first && mayBeTaken({ account, bot })) return this.#takeFirst({ account, bot });
      }
    }
    return null;
  }

  /** Empties the queue and returns its items. */
  drain(): Item[] {
    const items = [...this.#accounts.values()].flatMap((bots) => [...bots.values()].flat());
    this.#accounts.clear();
    this.#size = 0;
    return items;
  }

  #takeFirst({ account, bot }: Owner): Item | null {
    const bots = this.#accounts.get(account);
    const items = bots?.get(bot);
    const item = items?.shift();
    if (!bots || !items || !item) return null;
    this.#size -= 1;
    // Deleting and setting a key moves it to the end of a map: bot and account go to the end of their turns.
    bots.delete(bot);
    this.#accounts.delete(account);
    if (items.length > 0) bots.set(bot, items);
    if (bots.size > 0) this.#accounts.set(account, bots);
    return item;
  }

  #dropNewestOfLargest(): Item | null {
    const sizeOf = (bots: Map<number, Item[]>): number =>
      [...bots.values()].reduce((sum, { length }) => sum + length, 0);
    const [account, bots] = largest(this.#accounts, sizeOf) ?? [];
    const [bot, items] = (bots && largest(bots, ({ length }) => length)) ?? [];
    const dropped = items?.pop();
    if (account === undefined || bot === undefined || !bots || !dropped) return null;
    this.#size -= 1;
    if (items?.length === 0) bots.delete(bot);
    if (bots.size === 0) this.#accounts.delete(account);
    return dropped;
  }
}

// Returns the last of several equally large ones, which is served last anyway.
function largest<Value>(map: Map<number, Value>, sizeOf: (value: Value) => number): [number, Value] | null {
  let found: [number, Value] | null = null;
  for (const entry of map) if (!found || sizeOf(entry[1]) >= sizeOf(found[1])) found = entry;
  return found;
}
