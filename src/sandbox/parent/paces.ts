import type { Owner } from './fair-queue.ts';

/** A run that occupies its child for longer than this is slow. */
const quickMs = 200;
/** A bot counts as quick again after this many quick runs in a row. */
const proofsOfQuickness = 10;
/** Beyond this number, the bot whose last run is the longest ago is forgotten. */
const maxKnownBots = 10_000;

/**
 * Remembers which bots were slow lately and how many children each account occupies, and decides whose runs may take a
 * reserved child: those of quick bots, and of unknown bots while their account occupies no child. Without a reserve, a
 * crowd of slow bots, spread over many accounts, would keep every quick bot waiting.
 */
export class Paces {
  /** By account and bot: the quick runs that a bot still needs to count as quick; 0 = it does. */
  readonly #missing = new Map<string, number>();
  readonly #underWay = new Map<number, number>();

  /** Whether the owner's next run may take a reserved child. */
  mayTakeReserve(owner: Owner): boolean {
    const missing = this.#missing.get(keyOf(owner));
    return missing === undefined ? !this.#underWay.has(owner.account) : missing === 0;
  }

  /** To be called when a run begins. */
  begin({ account }: Owner): void {
    this.#underWay.set(account, (this.#underWay.get(account) ?? 0) + 1);
  }

  /** To be called when a run has ended. A run whose child had to be killed counts as slow, however long it took. */
  end(owner: Owner, { wallMs, killed }: { wallMs: number; killed: boolean }): void {
    const left = (this.#underWay.get(owner.account) ?? 1) - 1;
    if (left > 0) this.#underWay.set(owner.account, left);
    else this.#underWay.delete(owner.account);
    this.#learn(keyOf(owner), wallMs > quickMs || killed);
  }

  #learn(key: string, wasSlow: boolean): void {
    const missing = wasSlow ? proofsOfQuickness : Math.max(0, (this.#missing.get(key) ?? 0) - 1);
    this.#missing.delete(key);
    this.#missing.set(key, missing);
    if (this.#missing.size <= maxKnownBots) return;
    for (const [oldest] of this.#missing) return void this.#missing.delete(oldest);
  }
}

function keyOf({ account, bot }: Owner): string {
  return `${account}/${bot}`;
}
