/** Bounds of the bytes that runs hold at the same time. */
export interface RoomBounds {
  /** For all accounts together. */
  total: number;
  perAccount: number;
}

interface Waiting {
  account: number;
  bytes: number;
  enter: () => void;
}

/**
 * Bounds the bytes in memory that works of accounts hold at the same time. The others wait in the order in which they came; an
 * account whose own part is full keeps nobody else waiting.
 */
export class ByteRoom {
  readonly #bounds: RoomBounds;
  readonly #held = new Map<number, number>();
  readonly #waiting = new Set<Waiting>();
  #total = 0;

  constructor(bounds: RoomBounds) {
    this.#bounds = bounds;
  }

  /**
   * Resolves with the function that gives the bytes free, as soon as there is room for them. Throws the reason of the signal when it
   * is aborted before. `bytes` are at most those of an account.
   */
  async take({ account, bytes }: { account: number; bytes: number }, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const waiting: Waiting = { account, bytes, enter: () => undefined };
    this.#waiting.add(waiting);
    this.#admit();
    if (this.#waiting.has(waiting)) await this.#wait(waiting, signal);
    return () => this.#leave(account, bytes);
  }

  async #wait(waiting: Waiting, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.enter = resolve;
    const giveUp = (): void => {
      this.#waiting.delete(waiting);
      reject(signal.reason as Error);
      this.#admit();
    };
    signal.addEventListener('abort', giveUp);
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  #leave(account: number, bytes: number): void {
    this.#total -= bytes;
    const left = (this.#held.get(account) ?? 0) - bytes;
    if (left === 0) this.#held.delete(account);
    else this.#held.set(account, left);
    this.#admit();
  }

  // Large ones would never come in, if smaller ones of others could always pass them.
  #admit(): void {
    const full = new Set<number>();
    for (const waiting of this.#waiting) {
      const { account, bytes, enter } = waiting;
      if (full.has(account)) continue;
      if (!this.#fits(account, bytes)) full.add(account);
      else if (this.#blocksAll(bytes)) return;
      else {
        this.#waiting.delete(waiting);
        this.#enter(account, bytes);
        enter();
      }
    }
  }

  #enter(account: number, bytes: number): void {
    this.#total += bytes;
    this.#held.set(account, (this.#held.get(account) ?? 0) + bytes);
  }

  #fits(account: number, bytes: number): boolean {
    return (this.#held.get(account) ?? 0) + bytes <= this.#bounds.perAccount;
  }

  #blocksAll(bytes: number): boolean {
    return this.#total + bytes > this.#bounds.total;
  }
}
