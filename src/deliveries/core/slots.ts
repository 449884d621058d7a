import type { EndpointOutcome } from './circuit.ts';
import { keyOf, type EndpointOfAccount } from './endpoint.ts';

const unprovenAllowance = 1;
const provenAllowance = 2;
// Endpoints that a process remembers; beyond this number the longest unserved are forgotten.
const maxKnown = 10_000;
/** The share of all slots for unproven endpoints; the rest is for proven ones. */
const unprovenPart = 1 / 4;
/** The part of a compartment that an account may always have … */
const accountPart = 1 / 8;
/** … and the part that must stay free for it to have more. */
const reservedPart = 1 / 4;

/** An endpoint with something due; a system bot once per account. */
export interface DueEndpoint extends EndpointOfAccount {
  /** Whether the last attempt succeeded; null for plugin bots, whose last result only these slots remember. */
  isProven: boolean | null;
  /** `probe`: the circuit is open and admits one delivery; `open`: deliveries that waited too long are given up. */
  circuit: 'closed' | 'probe' | 'open';
  /** How many deliveries it gets in a second at most, and how many it may get now; null for any number. */
  rate: { perSecond: number; tokens: number } | null;
}

/** How many of an endpoint's due lanes to lease. */
export interface Share extends DueEndpoint {
  lanes: number;
}

/** A taken slot. */
export interface Slot {
  readonly endpoint: DueEndpoint;
  readonly compartment: Compartment;
}

/** How many deliveries may wait without a slot: in this process, and of one account. */
export interface WaitingRoom {
  total: number;
  perAccount: number;
}

interface Known {
  allowance: number;
  isProven: boolean;
  servedAt: number;
}

interface Queue {
  held: number;
  waiting: { share: Share; left: number }[];
}

/**
 * Decides how many deliveries may be in progress, and which endpoints are next. Pure. An endpoint has one slot until it
 * succeeds, then one more with each success up to its limit, and one again after a failure. Unproven endpoints share a
 * quarter of all slots, so that a crowd of hanging receivers leaves the rest to the others; within either part the accounts
 * take turns.
 */
export class Slots {
  /** The number of free slots; negative while more are taken than there are (see `leave`). */
  free: number;
  readonly #perEndpoint: number;
  readonly #proven: Compartment;
  readonly #unproven: Compartment;
  readonly #underWay = new Map<string, number>();
  readonly #toReceiver = new Map<number, number>();
  readonly #known = new Map<string, Known>();
  readonly #room: WaitingRoom;
  readonly #waiting = new Map<number, number>();
  #waitingInAll = 0;
  #served = 0;

  constructor({ total, perEndpoint, room }: { total: number; perEndpoint: number; room?: WaitingRoom }) {
    this.#room = room ?? { total: 0, perAccount: 0 };
    this.free = total;
    this.#perEndpoint = perEndpoint;
    const unproven = Math.floor(total * unprovenPart);
    this.#proven = new Compartment(total - unproven);
    // Too few slots to divide: proven and unproven endpoints share them.
    this.#unproven = unproven > 0 ? new Compartment(unproven) : this.#proven;
  }

  /** How many lanes to lease of each due endpoint: accounts take turns, and within an account its longest unserved endpoints. */
  plan(due: Iterable<DueEndpoint>): Share[] {
    const parts = Map.groupBy(due, (endpoint) => this.#compartmentOf(endpoint));
    return [...parts].flatMap(([compartment, endpoints]) => this.#divide(compartment, endpoints));
  }

  take(endpoint: DueEndpoint): Slot {
    const slot = { endpoint, compartment: this.#compartmentOf(endpoint) };
    this.#count(slot, 1);
    this.#remember(endpoint, { servedAt: ++this.#served });
    return slot;
  }

  /**
   * Frees a slot while its delivery waits for something other than the endpoint, unless too many of the account or of all
   * accounts wait already; the returned function takes it again. Then more slots may be taken than there are.
   */
  leave(slot: Slot): () => void {
    const { accountId } = slot.endpoint;
    const { total, perAccount } = this.#room;
    if (this.#waitingInAll >= total || (this.#waiting.get(accountId) ?? 0) >= perAccount) return () => undefined;
    const wait = (by: 1 | -1) => {
      this.#waitingInAll += by;
      add(this.#waiting, accountId, by);
      this.#count(slot, by === 1 ? -1 : 1);
    };
    wait(1);
    return () => wait(-1);
  }

  #count({ endpoint, compartment }: Slot, by: 1 | -1): void {
    this.free -= by;
    compartment.change(endpoint.accountId, by);
    add(this.#underWay, keyOf(endpoint), by);
    add(this.#toReceiver, endpoint.id, by);
  }

  /** Returns a slot; the outcome adjusts the endpoint's allowance. */
  give(slot: Slot, outcome: EndpointOutcome): void {
    const { endpoint } = slot;
    this.#count(slot, -1);
    if (outcome === 'skipped') return;
    const hasSucceeded = outcome === 'delivered';
    const grown = Math.min(this.#perEndpoint, this.#allowance(endpoint) + 1);
    this.#remember(endpoint, { allowance: hasSucceeded ? grown : unprovenAllowance, isProven: hasSucceeded });
  }

  /** Whether others wait for the slot; `due` are the endpoints with something due that has no slot, by their keys. */
  isWanted({ endpoint, compartment }: Slot, due: ReadonlyMap<string, DueEndpoint>): boolean {
    return compartment.free <= 0 || due.size > (due.has(keyOf(endpoint)) ? 1 : 0);
  }

  #divide(compartment: Compartment, due: readonly DueEndpoint[]): Share[] {
    let { free } = compartment;
    if (free <= 0) return [];
    const queues = this.#queues(compartment, due);
    const shares = new Set<Share>();
    const toReceiver = new Map(this.#toReceiver);
    while (free > 0) {
      const queue = nextQueue(queues, (held) => compartment.allows(held, free));
      const head = queue?.waiting.shift();
      if (!queue || !head) break;
      if (head.left <= 0 || !this.#hasRoom(head.share, toReceiver)) continue;
      head.share.lanes += 1;
      shares.add(head.share);
      add(toReceiver, head.share.id, 1);
      queue.held += 1;
      queue.waiting.push({ ...head, left: head.left - 1 });
      free -= 1;
    }
    return [...shares];
  }

  // Sorted by when they were last served, so that even a single slot reaches every endpoint in turn.
  #queues(compartment: Compartment, due: readonly DueEndpoint[]): Queue[] {
    const inTurn = due
      .map((endpoint) => ({ share: { ...endpoint, lanes: 0 }, left: this.#allowedNow(endpoint) }))
      .filter(({ left }) => left > 0)
      .toSorted((one, other) => this.#servedAt(one.share) - this.#servedAt(other.share));
    const byAccount = Map.groupBy(inTurn, ({ share }) => share.accountId);
    return [...byAccount].map(([accountId, waiting]) => ({ held: compartment.heldBy(accountId), waiting }));
  }

  #allowedNow(endpoint: DueEndpoint): number {
    if (endpoint.circuit === 'probe') return 1;
    const allowed = this.#allowance(endpoint) - (this.#underWay.get(keyOf(endpoint)) ?? 0);
    return Math.min(allowed, endpoint.rate?.tokens ?? allowed);
  }

  // The limit per endpoint counts all accounts, because they share its server.
  #hasRoom({ id, isProven }: DueEndpoint, toReceiver: ReadonlyMap<number, number>): boolean {
    return isProven === null || (toReceiver.get(id) ?? 0) < this.#perEndpoint;
  }

  #compartmentOf(endpoint: DueEndpoint): Compartment {
    return this.#isProven(endpoint) && endpoint.circuit === 'closed' ? this.#proven : this.#unproven;
  }

  #isProven(endpoint: DueEndpoint): boolean {
    return endpoint.isProven ?? this.#known.get(keyOf(endpoint))?.isProven ?? false;
  }

  #allowance(endpoint: DueEndpoint): number {
    // The endpoint may have been proven by another process, of which this one knows no allowance.
    if (!this.#isProven(endpoint)) return unprovenAllowance;
    const earned = this.#known.get(keyOf(endpoint))?.allowance ?? provenAllowance;
    return Math.min(this.#perEndpoint, Math.max(provenAllowance, earned));
  }

  #servedAt(endpoint: DueEndpoint): number {
    return this.#known.get(keyOf(endpoint))?.servedAt ?? 0;
  }

  #remember(endpoint: DueEndpoint, change: Partial<Known>): void {
    const key = keyOf(endpoint);
    const known = { allowance: this.#allowance(endpoint), isProven: false, servedAt: 0, ...this.#known.get(key) };
    this.#known.delete(key);
    this.#known.set(key, { ...known, ...change });
    if (this.#known.size <= maxKnown) return;
    for (const [oldest] of this.#known) return void this.#known.delete(oldest);
  }
}

// The queue of the account that holds the fewest slots.
function nextQueue(queues: readonly Queue[], allows: (held: number) => boolean): Queue | null {
  let next: Queue | null = null;
  for (const queue of queues) {
    if (queue.waiting.length > 0 && (next === null || queue.held < next.held)) next = queue;
  }
  return next !== null && allows(next.held) ? next : null;
}

// Adds to a count; a count of 0 is removed.
function add<Key>(counts: Map<Key, number>, key: Key, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

// A part of the slots, and how many of them each account holds.
class Compartment {
  readonly #size: number;
  readonly #byAccount = new Map<number, number>();
  #taken = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get free(): number {
    return this.#size - this.#taken;
  }

  heldBy(accountId: number): number {
    return this.#byAccount.get(accountId) ?? 0;
  }

  /** Whether an account with `held` slots may have another while `free` are left. */
  allows(held: number, free: number): boolean {
    return held < Math.max(1, Math.floor(this.#size * accountPart)) || free > Math.floor(this.#size * reservedPart);
  }

  change(accountId: number, by: 1 | -1): void {
    this.#taken += by;
    add(this.#byAccount, accountId, by);
  }
}
