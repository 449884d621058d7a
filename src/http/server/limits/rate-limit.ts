import type { Context } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../../../errors.ts';
import { callerNetwork } from '../../../outbound/addresses.ts';
import { systemClock, type Clock } from '../../../lib/ports.ts';

const windowSeconds = 60;

/** The key of limits per address: all addresses of one IPv6 network count as one. */
export function addressKey(ctx: Context): string {
  return callerNetwork(ctx.ip);
}

/** A limit per key and minute; counted in this process only. */
export class RateLimit {
  readonly #limiter: RateLimiterMemory | null;
  readonly #name: string;
  readonly #points: number;
  readonly #clock: Clock;

  /** `perMinute` 0 disables the limit. */
  constructor(name: string, perMinute: number, clock: Clock = systemClock) {
    this.#name = name;
    this.#points = perMinute;
    this.#clock = clock;
    this.#limiter =
      perMinute > 0 ? new RateLimiterMemory({ points: perMinute, duration: windowSeconds, keyPrefix: name }) : null;
  }

  /** Counts `points`; sets headers only on a refusal. Errors: 429. */
  async spend(ctx: Context, key: string, points: number): Promise<void> {
    try {
      await this.#limiter?.consume(key, points);
    } catch (result) {
      if (!(result instanceof RateLimiterRes)) throw result;
      this.#tell(ctx, result);
      throw tooMany(result);
    }
  }

  /** Counts one where there is no answer to set headers on. Errors: 429. */
  async take(key: string | number): Promise<void> {
    try {
      await this.#limiter?.consume(key);
    } catch (result) {
      throw result instanceof RateLimiterRes ? tooMany(result) : result;
    }
  }

  /** Takes back points that were counted for nothing. */
  async giveBack(key: string, points: number): Promise<void> {
    await this.#limiter?.reward(key, points);
  }

  /** Counts one request and sets headers with what is left. Errors: 429. */
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

  /** Refuses when nothing is left for the key; counts nothing. Errors: 429. */
  async check(ctx: Context, key: string): Promise<void> {
    const result = await this.#limiter?.get(key);
    if (!result || result.remainingPoints > 0) return;
    this.#tell(ctx, result);
    throw tooMany(result);
  }

  // The two fields of the present draft, and the three that older clients read; their reset is a Unix time.
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

function tooMany(result: RateLimiterRes): ApiError {
  const seconds = String(Math.max(1, Math.ceil(result.msBeforeNext / 1000)));
  return new ApiError(429, 'rate_limited', `Too many requests: try again in ${seconds} s`, {
    headers: { 'retry-after': seconds },
  });
}
