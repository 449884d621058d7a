import { busy } from '../../../errors.ts';

/** A caller whose requests are counted together, and how many of them may be inside at the same time. */
export interface Party {
  name: string;
  most: number;
  /** Many callers who have nothing to do with each other: how many of them are inside says nothing of whose turn it is. */
  isCrowd?: true;
}

interface Waiting {
  parties: readonly Party[];
  enter: () => void;
}

// The time that the connection pool would make a request wait.
const maxWaitMs = 5_000;
// Shares of one account, and within it of its visitors, who need no user account to call.
const largestShare = 2 / 3;
const visitorsShare = 1 / 3;

/**
 * Limits how many requests use the database at the same time, each with one connection, and how many of those places one
 * party may have. The others wait; a free place goes to the party that has the fewest, and among equals to the request
 * that came first.
 */
export class FairGate {
  readonly #places: number;
  readonly #maxWaitMs: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #inside = 0;

  /** At most `places` requests are inside; the others wait for `waitMs` at most. */
  constructor(places: number, waitMs = maxWaitMs) {
    this.#places = Math.max(1, places);
    this.#maxWaitMs = waitMs;
  }

  /** The parties that a request in an account counts for; visitors have a smaller share within the account's. */
  ofAccount(accountId: number, { visitor }: { visitor: boolean }): Party[] {
    const account = { name: `account ${accountId}`, most: this.#share(largestShare) };
    if (!visitor) return [account];
    return [account, { name: `visitors of account ${accountId}`, most: this.#share(visitorsShare) }];
  }

  /** The parties of a request that another system makes to a hook: a flood of them leaves a place to the account's people. */
  ofHooks(accountId: number): Party[] {
    const most = Math.max(1, this.#share(largestShare) - 1);
    return [...this.ofAccount(accountId, { visitor: false }), { name: `hooks of account ${accountId}`, most }];
  }

  /** The party of requests outside of accounts: one token, or one address. */
  ofCaller(name: string): Party[] {
    return [{ name, most: this.#share(visitorsShare) }];
  }

  /** Runs the work inside the gate. Errors: 503 `busy` when no place became free in time. */
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
      const held = Math.max(0, ...waiting.parties.map((party) => (party.isCrowd ? 0 : this.#held(party))));
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
