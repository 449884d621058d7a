import { readIdentity, type Identity } from './identity.ts';
import type { Clock } from '../../lib/ports.ts';
import type { Sql } from '../../postgres/sql.ts';

/** Thrown when the caller's identity has changed since admission. */
export class OutdatedIdentity extends Error {}

const maxRemembered = 1_000;
const rememberedMs = 30_000;

/**
 * Identities of tokens, remembered for a moment. Callers that use a remembered one must verify it in the transaction of their
 * work.
 */
export class Identities {
  readonly #clock: Clock;
  readonly #remembered = new Map<string, { identity: Identity; until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the identity as it was read some time ago, or null. */
  recall(tokenHash: Buffer, accountId: number | null): Identity | null {
    const known = this.#remembered.get(keyOf(tokenHash, accountId));
    return known && known.until > this.#clock.now().getTime() ? known.identity : null;
  }

  /** Reads and remembers the identity of the token with this SHA-256 in an account; null if the token is unknown. */
  async read(sql: Sql, tokenHash: Buffer, accountId: number | null): Promise<Identity | null> {
    const identity = await readIdentity(sql, tokenHash, accountId);
    const key = keyOf(tokenHash, accountId);
    this.#remembered.delete(key);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size >= maxRemembered && oldest !== undefined) this.#remembered.delete(oldest);
    if (identity?.entry) this.#remembered.set(key, { identity, until: this.#clock.now().getTime() + rememberedMs });
    return identity;
  }

  /** Forgets an identity that has changed. */
  forget({ tokenHash, accountId }: Identity): void {
    this.#remembered.delete(keyOf(tokenHash, accountId));
  }
}

function keyOf(tokenHash: Buffer, accountId: number | null): string {
  return `${tokenHash.toString('base64')} ${accountId}`;
}
