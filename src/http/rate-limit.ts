import type { Context } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../errors.ts';

const windowSeconds = 60;

function tooMany(result: RateLimiterRes): ApiError {
  const seconds = String(Math.max(1, Math.ceil(result.msBeforeNext / 1000)));
  return new ApiError(429, 'rate_limited', `Too many requests: try again in ${seconds} s`, {
    headers: { 'retry-after': seconds },
  });
}

/** How often something may happen in a minute, by key; counted in this process. */
export class RateLimit {
  readonly #limiter: RateLimiterMemory | null;
  readonly #name: string;
  readonly #points: number;

  /** `perMinute` 0 switches it off. */
  constructor(name: string, perMinute: number) {
    this.#name = name;
    this.#points = perMinute;
    this.#limiter =
      perMinute > 0 ? new RateLimiterMemory({ points: perMinute, duration: windowSeconds, keyPrefix: name }) : null;
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
  async check(key: string): Promise<void> {
    const result = await this.#limiter?.get(key);
    if (result && result.remainingPoints <= 0) throw tooMany(result);
  }

  #tell(ctx: Context, result: RateLimiterRes): void {
    const seconds = Math.ceil(result.msBeforeNext / 1000);
    ctx.set({
      'ratelimit-policy': `"${this.#name}";q=${this.#points};w=${windowSeconds}`,
      ratelimit: `"${this.#name}";r=${Math.max(0, result.remainingPoints)};t=${seconds}`,
    });
  }
}
