/** Whose turn something waits for. */
export interface Owner {
  account: number;
  bot: number;
}

interface Owned {
  readonly owner: Owner;
}

/**
 * What waits, taken turn by turn: by account, within an account by bot, within a bot in order of arrival. When it is full,
 * whoever has the most in it gives way, so that nobody's place depends on how much others wait for.
 */
export class FairQueue<Item extends Owned> {
  // In both maps, who was served longest ago comes first.
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
   * Puts an item behind those of its bot and calls `takeNow`, for who waits to take it. Answers what had to leave if too
   * many wait then, which may be the item itself.
   */
  add(item: Item, takeNow: () => void): Item | null {
    const { account, bot } = item.owner;
    const bots = this.#accounts.get(account) ?? new Map<number, Item[]>();
    const items = bots.get(bot) ?? [];
    items.push(item);
    bots.set(bot, items);
    this.#accounts.set(account, bots);
    this.#size += 1;
    takeNow();
    return this.#size > this.#limit ? this.#dropNewestOfLargest() : null;
  }

  /** Takes the item whose turn it is among those that may be taken now; null when none may. */
  take(mayBeTaken: (owner: Owner) => boolean): Item | null {
    for (const [account, bots] of this.#accounts) {
      for (const [bot, [first]] of bots) {
        if (first && mayBeTaken({ account, bot })) return this.#takeFirst({ account, bot });
      }
    }
    return null;
  }

  /** Empties it. */
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
    // Taken out and put in again, they stand behind the others.
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

// Of several largest the last: who came last gives way.
function largest<Value>(map: Map<number, Value>, sizeOf: (value: Value) => number): [number, Value] | null {
  let found: [number, Value] | null = null;
  for (const entry of map) if (!found || sizeOf(entry[1]) >= sizeOf(found[1])) found = entry;
  return found;
}
