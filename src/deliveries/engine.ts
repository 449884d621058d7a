import { setTimeout as wait } from 'node:timers/promises';
import type { Database, TouchedEndpoint } from '../postgres/database.ts';
import type { Random } from '../lib/ports.ts';
import { isPassing } from '../postgres/errors.ts';
import { takeHeads, type Claimed } from './queue/claim.ts';
import { keyOf, type EndpointKind, type EndpointOfAccount } from './core/endpoint.ts';
import { pauseAfter } from './core/claims.ts';
import { firstEndpoint, lookAt, surveyDue } from './queue/due-endpoints.ts';
import { FinishBatch } from './finish-batch.ts';
import { Slots, type DueEndpoint, type Share, type Slot, type SlotOutcome } from './core/slots.ts';
import type { Finished } from './queue/finish.ts';
import { extendLeases, leaseLanes, releaseLanes, type Lease } from './queue/lease.ts';
import { giveBackProbes, takeProbes } from './queue/probes.ts';

/** One attempt: what to write of how it ended, null when the deliverer has written that, and its endpoint's part in it. */
export interface Attempted {
  finished: Finished | null;
  outcome: SlotOutcome;
}

/** Makes one attempt on an endpoint, and knows how that stood when it was claimed. */
export type Deliver = (claimed: Claimed, standing: DueEndpoint) => Promise<Attempted>;

export interface EngineOptions {
  database: Database;
  random: Random;
  deliver: Record<EndpointKind, Deliver>;
  /** Deliveries under way at once, by kind of endpoint, in this process. */
  inFlight: Record<EndpointKind, number>;
  /** Deliveries under way at once to one endpoint, in this process. */
  endpointInFlight: number;
  leaseSeconds: number;
  holdAttempts: number;
  pollMs: number;
  /** Told of what went wrong in the engine itself, not of receivers that fail. */
  failed: (error: unknown) => void;
}

interface Pump {
  running: boolean;
  again: boolean;
  /** Whether to look for whatever is due, not only at what was touched. */
  surveys: boolean;
  after: EndpointOfAccount;
  touched: Map<string, EndpointOfAccount>;
  /** What had something due when it was last looked at, but no slot. */
  due: Map<string, DueEndpoint>;
  slots: Slots;
}

const renewalsPerLease = 3;
const lockedRetryMs = 250;
/** Endpoints that one survey steps over at most; the next goes on behind them. */
const surveyed = 1_000;
const kinds: readonly EndpointKind[] = ['webhook', 'bot'];

/**
 * Makes the deliveries that are due: claims lanes in batches, at most one delivery of a lane at a time, and writes how
 * each ended. Several processes may do so on one database.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #batch: FinishBatch;
  readonly #pumps: Record<EndpointKind, Pump>;
  readonly #underWay = new Set<Promise<void>>();
  readonly #held = new Set<Claimed>();
  // Leases that an outage of the database kept this process from ending, each with the seconds that it is to last still.
  readonly #abandoned: (Lease & { seconds: number })[] = [];
  #poll: NodeJS.Timeout | null = null;
  #renewal: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#batch = new FinishBatch(options);
    const pump = (kind: EndpointKind): Pump => {
      const slots = new Slots({ total: options.inFlight[kind], perEndpoint: options.endpointInFlight });
      const [touched, due] = [new Map<string, EndpointOfAccount>(), new Map<string, DueEndpoint>()];
      return { running: false, again: false, surveys: false, after: firstEndpoint, touched, due, slots };
    };
    this.#pumps = { webhook: pump('webhook'), bot: pump('bot') };
  }

  /** Begins to look for due deliveries: now, whenever poked, and every `pollMs`. */
  start(): void {
    const { pollMs, leaseSeconds } = this.#options;
    this.#poll = setInterval(() => this.poke(), pollMs);
    this.#renewal = setInterval(() => this.#track(this.#renew()), (leaseSeconds * 1000) / renewalsPerLease);
    this.poke();
  }

  /** Says that something may be due: at these endpoints, or anywhere. */
  poke(touched?: readonly TouchedEndpoint[]): void {
    for (const kind of kinds) {
      const pump = this.#pumps[kind];
      if (touched === undefined) pump.surveys = true;
      for (const endpoint of touched ?? []) if (endpoint.kind === kind) pump.touched.set(keyOf(endpoint), endpoint);
      if (pump.surveys || pump.touched.size > 0) this.#wake(kind);
    }
  }

  /** Deliveries that are under way. */
  get inFlight(): number {
    return this.#held.size;
  }

  /** Takes nothing new and resolves when what is under way has ended and is written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#poll) clearInterval(this.#poll);
    // A claim under way begins deliveries still.
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    if (this.#renewal) clearInterval(this.#renewal);
  }

  #wake(kind: EndpointKind): void {
    this.#track(this.#pump(kind));
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  async #pump(kind: EndpointKind): Promise<void> {
    const pump = this.#pumps[kind];
    pump.again = true;
    if (pump.running) return;
    pump.running = true;
    try {
      while (pump.again && !this.#stopped) {
        pump.again = false;
        await this.#claim(kind, pump);
      }
    } catch (error) {
      this.#options.failed(error);
    } finally {
      pump.running = false;
    }
  }

  async #claim(kind: EndpointKind, pump: Pump): Promise<void> {
    const { database, random, leaseSeconds } = this.#options;
    await this.#expireAbandoned();
    if (pump.slots.free <= 0) return;
    await this.#look(kind, pump);
    const shares = await this.#takeProbes(kind, pump.slots.plan(pump.due.values()));
    if (shares.length === 0) return;
    const token = random.uuid();
    const leased = await leaseLanes(database.em(), { kind, shares, leaseSeconds }, token);
    // Who got less than its share has nothing more that is due.
    const found = Map.groupBy(leased, ({ endpointId, accountId }) => keyOf({ id: endpointId, accountId }));
    for (const share of shares) {
      const key = keyOf(share);
      if ((found.get(key)?.length ?? 0) < share.lanes || share.circuit === 'probe') pump.due.delete(key);
    }
    if (leased.length > 0) pump.again = true;
    const leases = leased.map(({ id }) => ({ laneId: id, token }));
    await this.#takeUp(kind, { leases, token, shares });
  }

  // What was touched is looked at alone: of a crowd that has things due but no slot, each claim would have to step over
  // every endpoint.
  async #look(kind: EndpointKind, pump: Pump): Promise<void> {
    const em = this.#options.database.em();
    if (pump.surveys) {
      pump.surveys = false;
      const { due, next } = await surveyDue(em, { kind, after: pump.after, limit: surveyed });
      pump.after = next;
      pump.due = new Map(due.map((endpoint) => [keyOf(endpoint), endpoint]));
    }
    if (pump.touched.size === 0) return;
    const touched = [...pump.touched.values()];
    pump.touched.clear();
    for (const endpoint of touched) pump.due.delete(keyOf(endpoint));
    for (const endpoint of await lookAt(em, kind, touched)) pump.due.set(keyOf(endpoint), endpoint);
  }

  // Of all processes one makes a probe, and of all accounts of a system bot the one whose turn it is. What goes wrong
  // with probes keeps nothing else from being claimed.
  async #takeProbes(kind: EndpointKind, shares: readonly Share[]): Promise<readonly Share[]> {
    const probes = new Map<number, Share>();
    for (const share of shares) {
      if (share.circuit !== 'probe') continue;
      this.#pumps[kind].due.delete(keyOf(share));
      if (!probes.has(share.id)) probes.set(share.id, share);
    }
    if (probes.size === 0) return shares;
    const { database, leaseSeconds, failed } = this.#options;
    const bounds = { kind, endpointIds: [...probes.keys()], seconds: leaseSeconds };
    const ours = await takeProbes(database.em(), bounds).catch((error: unknown) => {
      failed(error);
      return new Set<number>();
    });
    return shares.filter(
      (share) => share.circuit !== 'probe' || (ours.has(share.id) && probes.get(share.id) === share),
    );
  }

  async #takeUp(
    kind: EndpointKind,
    { leases, token, shares }: { leases: readonly Lease[]; token: string; shares: readonly Share[] },
  ): Promise<void> {
    const { database, holdAttempts } = this.#options;
    const probes = new Set(shares.filter(({ circuit }) => circuit === 'probe').map(({ id }) => id));
    const standings = new Map(shares.map((share) => [keyOf(share), share]));
    let idle = leases;
    try {
      const laneIds = leases.map(({ laneId }) => laneId);
      const heads = leases.length === 0 ? [] : await takeHeads(database.em(), { laneIds, token, holdAttempts });
      for (const claimed of heads) {
        const { account, endpoint } = claimed;
        const standing = standings.get(keyOf({ id: endpoint.id, accountId: account.id }));
        if (!standing) throw new Error('A lane was leased that nobody asked for');
        probes.delete(endpoint.id);
        this.#begin(kind, claimed, standing);
      }
      const taken = new Set(heads.map(({ laneId }) => laneId));
      idle = leases.filter(({ laneId }) => !taken.has(laneId));
      if (idle.length > 0) idle = await database.em().transactional((em) => releaseLanes(em, idle, holdAttempts));
      this.#abandon(idle);
      if (probes.size > 0) await giveBackProbes(database.em(), kind, [...probes]).catch(this.#options.failed);
    } catch (error) {
      if (isPassing(error)) this.#abandon(idle);
      throw error;
    }
  }

  #abandon(leases: readonly Lease[]): void {
    this.#abandoned.push(...leases.map(({ laneId, token }) => ({ laneId, token, seconds: 0 })));
  }

  // A lane that is locked stays among them until it is free, or its lease has run out and is another's.
  async #expireAbandoned(): Promise<void> {
    const leases = this.#abandoned.splice(0);
    if (leases.length === 0) return;
    try {
      const locked = await this.#options.database.em().transactional(async (em) => {
        const bySeconds = [...Map.groupBy(leases, (lease) => lease.seconds)];
        const skipped = [];
        for (const [seconds, same] of bySeconds) skipped.push(...(await extendLeases(em, same, seconds)));
        return skipped;
      });
      this.#abandoned.push(...locked);
      if (locked.length < leases.length) for (const kind of kinds) this.#pumps[kind].surveys = true;
    } catch (error) {
      this.#abandoned.push(...leases);
      throw error;
    }
  }

  // A bot may compute, or wait for its turn, longer than a lease lasts: the lease tells whether its process is alive.
  async #renew(): Promise<void> {
    const { database, leaseSeconds, failed } = this.#options;
    let leases = [...this.#held];
    // Lanes that are locked are tried again alone, until the next renewal comes.
    for (let left = (leaseSeconds * 1000) / renewalsPerLease; leases.length > 0 && left > 0; left -= lockedRetryMs) {
      try {
        const held = leases.filter((lease) => this.#held.has(lease));
        leases = await database.em().transactional((em) => extendLeases(em, held, leaseSeconds));
      } catch (error) {
        return failed(error);
      }
      if (leases.length > 0) await wait(lockedRetryMs);
    }
  }

  #begin(kind: EndpointKind, claimed: Claimed, standing: DueEndpoint): void {
    const slot = this.#pumps[kind].slots.take(standing);
    this.#held.add(claimed);
    this.#track(this.#make(kind, claimed, slot));
  }

  async #make(kind: EndpointKind, claimed: Claimed, slot: Slot): Promise<void> {
    const outcome = await this.#deliver(kind, claimed, slot.endpoint);
    const pump = this.#pumps[kind];
    pump.slots.give(slot, outcome);
    this.#held.delete(claimed);
    pump.touched.set(keyOf(slot.endpoint), slot.endpoint);
    this.#wake(kind);
  }

  // A defect in a deliverer must not end the engine: the lease runs out, and the delivery is tried again. After an
  // outage there is no need to wait for that.
  async #deliver(kind: EndpointKind, claimed: Claimed, standing: DueEndpoint): Promise<SlotOutcome> {
    try {
      const { finished, outcome } = await this.#options.deliver[kind](claimed, standing);
      if (finished) await this.#batch.add(finished);
      return outcome;
    } catch (error) {
      if (isPassing(error)) {
        const { laneId, token } = claimed;
        this.#abandoned.push({ laneId, token, seconds: Math.min(pauseAfter(claimed), this.#options.leaseSeconds) });
      }
      this.#options.failed(error);
      return isPassing(error) ? 'skipped' : 'failed';
    }
  }
}
