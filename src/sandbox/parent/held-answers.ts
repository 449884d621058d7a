/** Bounds of the events and answers that runs hold, in bytes: two for a character, the most that V8 takes. */
export interface HeldBounds {
  /** For all accounts together. */
  total: number;
  perAccount: number;
}

const usualBounds: HeldBounds = { total: 256 * 1024 * 1024, perAccount: 64 * 1024 * 1024 };

const bytesPerChar = 2;
const bytesPerMb = 1024 * 1024;

/** A run that holds answers; `giveWay` makes it give them up, with the reason in a sentence. */
export interface Holder {
  readonly account: number;
  giveWay(reason: string): void;
}

/**
 * Counts what runs hold of events and answers until they end. An account that holds more than its part ends the run that
 * asks for more; where all together hold too much, the account with the most gives way with its newest runs, so that no
 * account can take the memory of another.
 */
export class HeldAnswers {
  readonly #bounds: HeldBounds;
  readonly #accounts = new Map<number, Map<Holder, number>>();
  #total = 0;

  constructor(bounds: HeldBounds = usualBounds) {
    this.#bounds = bounds;
  }

  /** Counts characters that a run holds from now on; it, or another run, may have to give way for them. */
  hold(holder: Holder, chars: number): void {
    const runs = this.#accounts.get(holder.account) ?? new Map<Holder, number>();
    runs.set(holder, (runs.get(holder) ?? 0) + chars * bytesPerChar);
    this.#accounts.set(holder.account, runs);
    this.#total += chars * bytesPerChar;
    const { perAccount, total } = this.#bounds;
    if (sumOf(runs) > perAccount) this.#end(holder, `The account's runs hold more than ${perAccount / bytesPerMb} MiB`);
    while (this.#total > total) {
      const newest = this.#newestOfLargest();
      if (!newest) return;
      this.#end(newest, `All runs together hold more than ${total / bytesPerMb} MiB, and the account's hold the most`);
    }
  }

  /** Forgets a run: it has ended, or gave way. */
  release(holder: Holder): void {
    const runs = this.#accounts.get(holder.account);
    this.#total -= runs?.get(holder) ?? 0;
    runs?.delete(holder);
    if (runs?.size === 0) this.#accounts.delete(holder.account);
  }

  #end(holder: Holder, reason: string): void {
    this.release(holder);
    holder.giveWay(reason);
  }

  #newestOfLargest(): Holder | undefined {
    const accounts = [...this.#accounts.values()].sort((one, other) => sumOf(other) - sumOf(one));
    return [...(accounts[0]?.keys() ?? [])].at(-1);
  }
}

function sumOf(runs: ReadonlyMap<Holder, number>): number {
  return [...runs.values()].reduce((sum, bytes) => sum + bytes, 0);
}
