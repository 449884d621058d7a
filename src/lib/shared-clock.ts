import { systemClock, type Clock } from './ports.ts';

const followMs = 60_000;
// A question that took longer says too little about when it was answered.
const maxRoundTripMs = 1_000;

/**
 * A clock that tells the time of another one, which several processes share: this machine's own, put right by the
 * difference that was measured last. Until it is measured it tells the machine's own time.
 */
export class SharedClock implements Clock {
  readonly #own: Clock;
  #aheadMs = 0;
  #following: NodeJS.Timeout | null = null;

  constructor(own: Clock = systemClock) {
    this.#own = own;
  }

  now(): Date {
    return new Date(this.#own.now().getTime() + this.#aheadMs);
  }

  /** Measures how far the other clock is ahead; what it told counts for the middle of the time that asking took. */
  async measure(ask: () => Promise<Date>): Promise<void> {
    const askedAt = this.#own.now().getTime();
    const told = (await ask()).getTime();
    const roundTripMs = this.#own.now().getTime() - askedAt;
    if (roundTripMs < 0 || roundTripMs > maxRoundTripMs) return;
    this.#aheadMs = told - (askedAt + roundTripMs / 2);
  }

  /** Measures now, and from time to time until stopped; failures of the later ones go to `failed`. */
  async follow(ask: () => Promise<Date>, failed: (error: unknown) => void): Promise<void> {
    await this.measure(ask);
    this.#following ??= setInterval(() => void this.measure(ask).catch(failed), followMs).unref();
  }

  stop(): void {
    if (this.#following) clearInterval(this.#following);
    this.#following = null;
  }
}
