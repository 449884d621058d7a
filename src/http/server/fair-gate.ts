import { busy } from '../../errors.ts';

/** Somebody whose requests are counted together, and how many of them may be at the database at once. */
export interface Party {
  name: string;
  most: number;
}

interface Waiting {
  parties: readonly Party[];
  enter: () => void;
}

// As long as the pool itself would make a request wait.
const maxWaitMs = 5_000;
// A whole account's, and within it its visitors', who need no account of their own to call.
const largestShare = 2 / 3;
const visitorsShare = 1 / 3;

/**
 * The door to the database for requests: only so many are inside at once, each with one connection at a time, and nobody
 * has all of the places. Whoever finds none waits; a place that becomes free goes to who has the fewest, the first come
 * among equals.
 */
export class FairGate {
  readonly #places: number;
  readonly #maxWaitMs: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #inside = 0;

  /** As many requests are inside at most; another waits for `waitMs`. */
  constructor(places: number, waitMs = maxWaitMs) {
    this.#places = Math.max(1, places);
    this.#maxWaitMs = waitMs;
  }

  /** The parties that a request in an account counts for; visitors may have a smaller part of the account's share. */
  ofAccount(accountId: number, { visitor }: { visitor: boolean }): Party[] {
    const account = { name: `account ${accountId}`, most: this.#share(largestShare) };
    if (!visitor) return [account];
    return [account, { name: `visitors of account ${accountId}`, most: this.#share(visitorsShare) }];
  }

  /** The party of requests outside of accounts: those of one token, or of one address. */
  ofCaller(name: string): Party[] {
    return [{ name, most: this.#share(visitorsShare) }];
  }

  /** Does the work inside. Errors: 503 `busy` when no place became free in time. */
  async run<Result>(parties: readonly Party[], work: () => Promise<Result>): Promise<Result> {
    if (this.#mayEnter(parties)) this.#enter(parties);
    else await this.#wait(parties);
    try {
      return await work();
    } finally {
      this.#leave(parties);
    }
  }

  #share(part: number): number {
    return Math.max(1, Math.floor(this.#places * part));
  }

  #held({ name }: Party): number {
    return this.#taken.get(name) ?? 0;
  }

  #mayEnter(parties: readonly Party[]): boolean {
    return this.#inside < this.#places && parties.every((party) => this.#held(party) < party.most);
  }

  #enter(parties: readonly Party[]): void {
    this.#inside += 1;
    for (const party of parties) this.#taken.set(party.name, this.#held(party) + 1);
  }

  #leave(parties: readonly Party[]): void {
    this.#inside -= 1;
    for (const party of parties) {
      const left = this.#held(party) - 1;
      if (left === 0) this.#taken.delete(party.name);
      else this.#taken.set(party.name, left);
    }
    const next = this.#next();
    if (!next) return;
    this.#waiting.delete(next);
    this.#enter(next.parties);
    next.enter();
  }

  #next(): Waiting | null {
    let next: { waiting: Waiting; held: number } | null = null;
    for (const waiting of this.#waiting) {
      if (!this.#mayEnter(waiting.parties)) continue;
      const held = Math.max(...waiting.parties.map((party) => this.#held(party)));
      if (!next || held < next.held) next = { waiting, held };
      if (held === 0) break;
    }
    return next?.waiting ?? null;
  }

  async #wait(parties: readonly Party[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { parties, enter: resolve };
    this.#waiting.add(waiting);
    const giveUp = setTimeout(() => {
      this.#waiting.delete(waiting);
      reject(busy());
    }, this.#maxWaitMs);
    try {
      await promise;
    } finally {
      clearTimeout(giveUp);
    }
  }
}
