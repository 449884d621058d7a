import { systemClock, type Clock } from './ports.ts';

const followMs = 60_000;
// A slower round trip makes the measurement too inexact.
const maxRoundTripMs = 1_000;

/**
 * A clock that follows another one, which several processes share: the machine's clock plus the last measured
 * difference. Shows the machine's time until the first measurement.
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

  /** Measures the difference to the other clock. Assumes that it was read in the middle of the round trip. */
  async measure(ask: () => Promise<Date>): Promise<void> {
    const askedAt = this.#own.now().getTime();
    const told = (await ask()).getTime();
    const roundTripMs = this.#own.now().getTime() - askedAt;
    if (roundTripMs < 0 || roundTripMs > maxRoundTripMs) return;
    this.#aheadMs = told - (askedAt + roundTripMs / 2);
  }

  /** Measures now, and then regularly until stopped; errors of the later measurements go to `failed`. */
  async follow(ask: () => Promise<Date>, failed: (error: unknown) => void): Promise<void> {
    await this.measure(ask);
    this.#following ??= setInterval(() => void this.measure(ask).catch(failed), followMs).unref();
  }

  stop(): void {
    if (this.#following) clearInterval(this.#following);
    this.#following = null;
  }
}
