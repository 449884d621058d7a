import type { Context } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../../errors.ts';
import { callerNetwork } from '../../outbound/addresses.ts';
import { systemClock, type Clock } from '../../lib/ports.ts';

const windowSeconds = 60;

function tooMany(result: RateLimiterRes): ApiError {
  const seconds = String(Math.max(1, Math.ceil(result.msBeforeNext / 1000)));
  return new ApiError(429, 'rate_limited', `Too many requests: try again in ${seconds} s`, {
    headers: { 'retry-after': seconds },
  });
}

/** The key of limits per address: all callers of one IPv6 network count as one. */
export function addressKey(ctx: Context): string {
  return callerNetwork(ctx.ip);
}

/** How often something may happen in a minute, by key; counted in this process. */
export class RateLimit {
  readonly #limiter: RateLimiterMemory | null;
  readonly #name: string;
  readonly #points: number;
  readonly #clock: Clock;

  /** `perMinute` 0 switches it off. */
  constructor(name: string, perMinute: number, clock: Clock = systemClock) {
    this.#name = name;
    this.#points = perMinute;
    this.#clock = clock;
    this.#limiter =
      perMinute > 0 ? new RateLimiterMemory({ points: perMinute, duration: windowSeconds, keyPrefix: name }) : null;
  }

  /** Counts so many, and tells the caller nothing unless there is too little left. Errors: 429 then. */
  async spend(ctx: Context, key: string, points: number): Promise<void> {
    try {
      await this.#limiter?.consume(key, points);
    } catch (result) {
      if (!(result instanceof RateLimiterRes)) throw result;
      this.#tell(ctx, result);
      throw tooMany(result);
    }
  }

  /** Counts one and tells the caller what is left. Errors: 429 when nothing is. */
  async consume(ctx: Context, key: string | number): Promise<void> {
    if (!this.#limiter) return;
    try {
      this.#tell(ctx, await this.#limiter.consume(key));
    } catch (result) {
      if (!(result instanceof RateLimiterRes)) throw result;
      this.#tell(ctx, result);
      throw tooMany(result);
    }
  }

  /** Errors: 429 when nothing is left for the key; counts nothing. */
  async check(ctx: Context, key: string): Promise<void> {
    const result = await this.#limiter?.get(key);
    if (!result || result.remainingPoints > 0) return;
    this.#tell(ctx, result);
    throw tooMany(result);
  }

  // The present draft's two fields, and the three that older clients know; their reset is a Unix time.
  #tell(ctx: Context, result: RateLimiterRes): void {
    const seconds = Math.ceil(result.msBeforeNext / 1000);
    const remaining = String(Math.max(0, result.remainingPoints));
    const reset = Math.ceil((this.#clock.now().getTime() + result.msBeforeNext) / 1000);
    ctx.set({
      'ratelimit-policy': `"${this.#name}";q=${this.#points};w=${windowSeconds}`,
      ratelimit: `"${this.#name}";r=${remaining};t=${seconds}`,
      'x-ratelimit-limit': String(this.#points),
      'x-ratelimit-remaining': remaining,
      'x-ratelimit-reset': String(reset),
    });
  }
}
