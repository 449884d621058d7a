/** The part of a compartment that an account may always have … */
const accountPart = 1 / 8;
/** … and the part that must stay free for it to have more. */
const reservedPart = 1 / 4;

/** Adds to a count; a count of 0 is removed. */
export function add<Key>(counts: Map<Key, number>, key: Key, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

/** A part of the slots, and how many of them each account holds. */
export class Compartment {
  readonly #size: number;
  readonly #byAccount = new Map<number, number>();
  #taken = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get free(): number {
    return this.#size - this.#taken;
  }

  heldBy(accountId: number): number {
    return this.#byAccount.get(accountId) ?? 0;
  }

  /** Whether an account with `held` slots may have another while `free` are left. */
  allows(held: number, free: number): boolean {
    return held < Math.max(1, Math.floor(this.#size * accountPart)) || free > Math.floor(this.#size * reservedPart);
  }

  change(accountId: number, by: 1 | -1): void {
    this.#taken += by;
    add(this.#byAccount, accountId, by);
  }
}
