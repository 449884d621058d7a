import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../database.ts';
import type { Random } from '../lib/ports.ts';
import { isOutage, isRetryable } from '../lib/sql-errors.ts';
import { leaseLanes, takeHeads, type Claimed, type EndpointKind } from './claim.ts';
import { pauseAfter } from './defect.ts';
import { FinishBatch } from './finish-batch.ts';
import { Slots, type SlotOutcome } from './slots.ts';
import { extendLeases, releaseLanes, type Finished, type Lease } from './finish.ts';

/** One attempt: what to write of how it ended, null when the deliverer has written that, and its endpoint's part in it. */
export interface Attempted {
  finished: Finished | null;
  outcome: SlotOutcome;
}

/** Makes one attempt. */
export type Deliver = (claimed: Claimed) => Promise<Attempted>;

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
  afterEndpoint: number;
  slots: Slots;
}

const renewalsPerLease = 3;
const lockedRetryMs = 250;
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
      return { running: false, again: false, afterEndpoint: 0, slots };
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

  /** Says that something may be due. */
  poke(): void {
    for (const kind of kinds) this.#wake(kind);
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
    const limit = pump.slots.free;
    if (limit <= 0) return;
    const token = random.uuid();
    const bounds = {
      kind,
      limit,
      perEndpoint: pump.slots.first,
      free: pump.slots.freeByEndpoint(),
      afterEndpoint: pump.afterEndpoint,
      leaseSeconds,
    };
    const leased = await leaseLanes(database.em(), bounds, token);
    const full = leased.length === limit;
    if (full || pump.afterEndpoint > 0) pump.again = true;
    pump.afterEndpoint = full ? Math.max(...leased.map(({ endpointId }) => endpointId)) : 0;
    if (leased.length > 0)
      await this.#takeUp(
        kind,
        leased.map(({ id }) => ({ laneId: id, token })),
        token,
      );
  }

  async #takeUp(kind: EndpointKind, leases: readonly Lease[], token: string): Promise<void> {
    const { database, holdAttempts } = this.#options;
    let idle = leases;
    try {
      const heads = await takeHeads(database.em(), {
        laneIds: leases.map(({ laneId }) => laneId),
        token,
        holdAttempts,
      });
      for (const claimed of heads) this.#begin(kind, claimed);
      const taken = new Set(heads.map(({ laneId }) => laneId));
      idle = leases.filter(({ laneId }) => !taken.has(laneId));
      if (idle.length > 0) idle = await database.em().transactional((em) => releaseLanes(em, idle, holdAttempts));
      this.#abandon(idle);
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

  #begin(kind: EndpointKind, claimed: Claimed): void {
    this.#pumps[kind].slots.take(claimed.endpoint.id);
    this.#held.add(claimed);
    this.#track(this.#make(kind, claimed));
  }

  async #make(kind: EndpointKind, claimed: Claimed): Promise<void> {
    const outcome = await this.#deliver(kind, claimed);
    this.#pumps[kind].slots.give(claimed.endpoint.id, outcome);
    this.#held.delete(claimed);
    this.#wake(kind);
  }

  // A defect in a deliverer must not end the engine: the lease runs out, and the delivery is tried again. After an
  // outage there is no need to wait for that.
  async #deliver(kind: EndpointKind, claimed: Claimed): Promise<SlotOutcome> {
    try {
      const { finished, outcome } = await this.#options.deliver[kind](claimed);
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

// The lanes need not wait out their lease after what another try may well get over.
function isPassing(error: unknown): boolean {
  return isOutage(error) || isRetryable(error);
}
