const firstAllowance = 2;
const failedAllowance = 1;
// What was learned of the endpoints heard of longest ago is forgotten beyond this.
const maxKnown = 10_000;

/**
 * How an attempt ended for its endpoint. `unanswered` is the failure of one that was not there to answer, or not in
 * time; `skipped` says nothing of the endpoint: it was not asked, or had no part in how the attempt ended.
 */
export type SlotOutcome = 'delivered' | 'failed' | 'unanswered' | 'skipped';

/**
 * How many deliveries may be under way at once: in all, and to each endpoint. An endpoint earns its share: it begins
 * with two, gets one more with each success up to the bound, and falls to one with a failure. So a crowd of receivers
 * that hang holds few slots, and the others' deliveries find theirs.
 */
export class Slots {
  readonly #total: number;
  readonly #perEndpoint: number;
  readonly #inFlight = new Map<number, number>();
  readonly #allowances = new Map<number, number>();
  #taken = 0;

  constructor({ total, perEndpoint }: { total: number; perEndpoint: number }) {
    this.#total = total;
    this.#perEndpoint = perEndpoint;
  }

  /** What is left in all. */
  get free(): number {
    return this.#total - this.#taken;
  }

  /** What an endpoint may take of which nothing is known. */
  get first(): number {
    return Math.min(firstAllowance, this.#perEndpoint);
  }

  /** What each known endpoint may take now. */
  freeByEndpoint(): Map<number, number> {
    const known = new Set([...this.#inFlight.keys(), ...this.#allowances.keys()]);
    return new Map([...known].map((id) => [id, Math.max(0, this.#allowance(id) - (this.#inFlight.get(id) ?? 0))]));
  }

  take(endpointId: number): void {
    this.#taken += 1;
    this.#inFlight.set(endpointId, (this.#inFlight.get(endpointId) ?? 0) + 1);
  }

  /** Gives a slot back; the outcome moves what the endpoint may take from now on. */
  give(endpointId: number, outcome: SlotOutcome): void {
    this.#taken -= 1;
    const left = (this.#inFlight.get(endpointId) ?? 1) - 1;
    if (left > 0) this.#inFlight.set(endpointId, left);
    else this.#inFlight.delete(endpointId);
    if (outcome !== 'skipped') this.#learn(endpointId, outcome === 'delivered');
  }

  #allowance(endpointId: number): number {
    return this.#allowances.get(endpointId) ?? this.first;
  }

  #learn(endpointId: number, hasSucceeded: boolean): void {
    const grown = Math.min(this.#perEndpoint, this.#allowance(endpointId) + 1);
    this.#allowances.delete(endpointId);
    this.#allowances.set(endpointId, hasSucceeded ? grown : failedAllowance);
    if (this.#allowances.size <= maxKnown) return;
    for (const [oldest] of this.#allowances) return void this.#allowances.delete(oldest);
  }
}
