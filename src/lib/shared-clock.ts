import { systemClock, type Clock } from './ports.ts';

const followMs = 60_000;
// A slower round trip makes the measurement too inexact.
const maxRoundTripMs = 1_000;
/** The machine's clock and its steady one have parted by more than this: one of them jumped, or the machine slept. */
const jumpMs = 1_000;
const steadyMs = (): number => performance.now();

/** A reading of the other clock, and of this machine's clocks at the same moment. */
interface Measurement {
  toldMs: number;
  steadyMs: number;
  ownMs: number;
}

/**
 * A clock that follows another one, which several processes share: its last measured time, and what has passed since on a
 * clock that never jumps, since somebody may set the machine's. Shows the machine's time until the first measurement.
 */
export class SharedClock implements Clock {
  readonly #own: Clock;
  readonly #steadyMs: () => number;
  #last: Measurement | null = null;
  #following: NodeJS.Timeout | null = null;
  #measureAgain: () => void = () => undefined;

  /** If only `own` is passed, it counts as a clock that does not jump; pass `steady` otherwise. */
  constructor(own?: Clock, steady?: () => number) {
    this.#own = own ?? systemClock;
    this.#steadyMs = steady ?? (own ? () => own.now().getTime() : steadyMs);
  }

  now(): Date {
    const last = this.#last;
    if (!last) return this.#own.now();
    const passedMs = this.#steadyMs() - last.steadyMs;
    // A sleeping machine's steady clock may stand still: the other clock knows.
    if (Math.abs(this.#own.now().getTime() - last.ownMs - passedMs) > jumpMs) this.#measureAgain();
    return new Date(last.toldMs + passedMs);
  }

  /** Measures the difference to the other clock. Assumes that it was read in the middle of the round trip. */
  async measure(ask: () => Promise<Date>): Promise<void> {
    const askedAt = this.#steadyMs();
    const told = (await ask()).getTime();
    const answeredAt = this.#steadyMs();
    if (answeredAt < askedAt || answeredAt - askedAt > maxRoundTripMs) return;
    this.#last = { toldMs: told, steadyMs: (askedAt + answeredAt) / 2, ownMs: this.#own.now().getTime() };
  }

  /**
   * Measures now, and then regularly until stopped, and when this machine's clock has jumped; errors of the later
   * measurements go to `failed`.
   */
  async follow(ask: () => Promise<Date>, failed: (error: unknown) => void): Promise<void> {
    await this.measure(ask);
    const again = (): Promise<void> => this.measure(ask).catch(failed);
    this.#following ??= setInterval(() => void again(), followMs).unref();
    this.#measureAgain = this.#atMostOnceAt(again);
  }

  stop(): void {
    if (this.#following) clearInterval(this.#following);
    this.#following = null;
    this.#measureAgain = () => undefined;
  }

  // While the other clock does not answer, everybody who asks for the time would ask it again.
  #atMostOnceAt(work: () => Promise<void>): () => void {
    let nextMs = 0;
    return () => {
      if (this.#steadyMs() < nextMs) return;
      nextMs = this.#steadyMs() + maxRoundTripMs;
      void work();
    };
  }
}
