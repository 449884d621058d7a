import type { Owner } from './fair-queue.ts';

/** A run that computes for longer than this is slow. */
const quickMs = 200;
/** A bot counts as quick again after this many quick runs in a row. */
const proofsOfQuickness = 10;
/** Beyond this number, the bot or account whose last run is the longest ago is forgotten. */
const maxKnown = 20_000;

/** How a run ended: the processor time that it took, and whether its child had to be killed. */
export interface EndOfRun {
  computedMs: number;
  killed: boolean;
}

/**
 * Remembers which bots were slow lately, and counts the runs under way, to decide whose runs take a reserved child first:
 * those of quick bots; and of a bot without a record, if its account was quick lately and occupies no child. Without a
 * reserve, a crowd of slow bots, spread over many accounts, would keep every quick bot waiting for its turn behind them.
 */
export class Paces {
  /** Quick runs still missing until a bot or account counts as quick; 0 = it does. */
  readonly #missing = new Map<string, number>();
  readonly #underWay = new Map<number, number>();
  #unproven = 0;

  /** The number of runs under way, without those of bots that were quick when they began. */
  get unproven(): number {
    return this.#unproven;
  }

  /** Whether the owner's next run may take a reserved child before others. */
  mayTakeReserve(owner: Owner): boolean {
    const missing = this.#missing.get(keyOf(owner));
    if (missing !== undefined) return missing === 0;
    return !this.isUnderWay(owner.account) && (this.#missing.get(String(owner.account)) ?? 0) === 0;
  }

  /** Whether a run of the account is under way. */
  isUnderWay(account: number): boolean {
    return this.#underWay.has(account);
  }

  /** To be called when a run begins; the returned function when it has ended. */
  begin(owner: Owner): (end: EndOfRun) => void {
    const { account } = owner;
    const isUnproven = this.#missing.get(keyOf(owner)) !== 0;
    if (isUnproven) this.#unproven += 1;
    this.#underWay.set(account, (this.#underWay.get(account) ?? 0) + 1);
    return ({ computedMs, killed }) => {
      if (isUnproven) this.#unproven -= 1;
      const left = (this.#underWay.get(account) ?? 1) - 1;
      if (left > 0) this.#underWay.set(account, left);
      else this.#underWay.delete(account);
      // A run whose child had to be killed is slow, however little it computed: a child takes its time to start.
      for (const key of [keyOf(owner), String(account)]) this.#learn(key, computedMs > quickMs || killed);
    };
  }

  #learn(key: string, wasSlow: boolean): void {
    const missing = wasSlow ? proofsOfQuickness : Math.max(0, (this.#missing.get(key) ?? 0) - 1);
    this.#missing.delete(key);
    this.#missing.set(key, missing);
    if (this.#missing.size <= maxKnown) return;
    for (const [oldest] of this.#missing) return void this.#missing.delete(oldest);
  }
}

function keyOf({ account, bot }: Owner): string {
  return `${account}/${bot}`;
}
