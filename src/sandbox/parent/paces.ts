import type { Owner } from './fair-queue.ts';

/** A run that holds its child longer is slow. */
const quickMs = 200;
/** So many quick runs in a row after a slow one, and a bot counts as quick again. */
const proofsOfQuickness = 10;
/** What was learned of the bots heard of longest ago is forgotten beyond this. */
const maxKnownBots = 10_000;

/**
 * What is known of how long bots hold a child, and how many children each account holds now. It decides who may take the
 * children kept in reserve: bots that were quick of late, and an account's first run of a bot that nothing is known of.
 * So no crowd of slow bots, however many accounts they belong to, keeps a quick bot waiting.
 */
export class Paces {
  /** By account and bot: how many quick runs are missing; 0 = quick. */
  readonly #missing = new Map<string, number>();
  readonly #underWay = new Map<number, number>();

  /** Whether the owner's next run may take a child kept in reserve. */
  mayTakeReserve(owner: Owner): boolean {
    const missing = this.#missing.get(keyOf(owner));
    return missing === undefined ? !this.#underWay.has(owner.account) : missing === 0;
  }

  /** A run begins. */
  begin({ account }: Owner): void {
    this.#underWay.set(account, (this.#underWay.get(account) ?? 0) + 1);
  }

  /** A run has ended; one that cost the child its life is slow, however long it took. */
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
