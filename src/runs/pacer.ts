import type { Clock } from '../lib/ports.ts';

const leastMs = 30_000;
const mostMs = 600_000;
const betweenMs = 20;
const maxKeys = 10_000;

/**
 * Spreads what is tried again in vain: each try of a key comes half a minute later, and the tries of one key 20 ms after each other,
 * so that very many that wait cost no more than fifty tries a second, until each is tried every ten minutes.
 */
export class Pacer {
  readonly #clock: Clock;
  readonly #last = new Map<number, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the milliseconds until the next try of the key. */
  delayMs(key: number): number {
    const now = this.#clock.now().getTime();
    const next = Math.max(now + leastMs, (this.#last.get(key) ?? 0) + betweenMs);
    const at = Math.min(next, now + mostMs);
    if (this.#last.size >= maxKeys && !this.#last.has(key)) this.#last.clear();
    this.#last.set(key, at);
    return at - now;
  }
}
