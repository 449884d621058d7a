import type { Database } from '../postgres/database.ts';
import type { Random } from '../lib/ports.ts';
import { isPassing } from '../postgres/errors.ts';
import { claimProbes } from './claim-probes.ts';
import { pauseAfter } from './core/claims.ts';
import { keyOf, type EndpointKind } from './core/endpoint.ts';
import { probesOf } from './core/probes.ts';
import type { EndpointOutcome } from './core/circuit.ts';
import type { DueEndpoint, Share, Slot, Slots } from './core/slots.ts';
import { DueList } from './due-list.ts';
import type { Deliver } from './attempt.ts';
import type { FinishBatch } from './finish-batch.ts';
import type { HeldLeases } from './held-leases.ts';
import { takeHeads, type Claimed } from './queue/claim.ts';
import { leaseLanes, releaseLanes, type Lease } from './queue/lease.ts';
import { giveBackProbes } from './queue/probes.ts';

export interface PumpOptions {
  kind: EndpointKind;
  database: Database;
  random: Random;
  /** Makes an attempt on an endpoint of the kind. */
  deliver: Deliver;
  slots: Slots;
  leases: HeldLeases;
  results: FinishBatch;
  leaseSeconds: number;
  holdAttempts: number;
  failed: (error: unknown) => void;
  /** Makes the engine's stop wait for the work. */
  track: (work: Promise<void>) => void;
}

/** Leases that were taken together, and the shares that they fill. */
interface Claim {
  token: string;
  leases: readonly Lease[];
  shares: readonly Share[];
}

/** Claims the due deliveries of one kind of endpoint, as many as there are slots, and makes them. */
export class Pump {
  readonly due: DueList;
  readonly #options: PumpOptions;
  #running = false;
  #again = false;
  #stopped = false;

  constructor(options: PumpOptions) {
    this.#options = options;
    this.due = new DueList(options.kind);
  }

  /** Starts a claim, or repeats the one in progress. */
  wake(): void {
    this.#options.track(this.#run());
  }

  /** Starts no further claim; one in progress still begins its deliveries. */
  stop(): void {
    this.#stopped = true;
  }

  async #run(): Promise<void> {
    this.#again = true;
    if (this.#running) return;
    this.#running = true;
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        await this.#claim();
      }
    } catch (error) {
      this.#options.failed(error);
    } finally {
      this.#running = false;
    }
  }

  async #claim(): Promise<void> {
    const { kind, database, random, slots, leases, leaseSeconds } = this.#options;
    await leases.endAbandoned();
    if (slots.free <= 0) return;
    const planned = slots.plan(await this.due.look(database.em()));
    for (const share of planned) if (share.circuit === 'probe') this.due.remove(share);
    const shares = await claimProbes(this.#options, planned);
    if (shares.length === 0) return;
    const token = random.uuid();
    const lanes = await leaseLanes(database.em(), { kind, shares, leaseSeconds }, token);
    // Fewer lanes than wanted: the endpoint has nothing more that is due.
    const found = Map.groupBy(lanes, ({ endpointId, accountId }) => keyOf({ id: endpointId, accountId }));
    for (const share of shares) {
      if ((found.get(keyOf(share))?.length ?? 0) < share.lanes) this.due.remove(share);
    }
    if (lanes.length > 0) this.#again = true;
    await this.#takeUp({ token, leases: lanes.map(({ id }) => ({ laneId: id, token })), shares });
  }

  async #takeUp({ token, leases, shares }: Claim): Promise<void> {
    const { kind, database, holdAttempts, failed } = this.#options;
    const standings = new Map(shares.map((share) => [keyOf(share), share]));
    const idleProbes = new Set(probesOf(shares).keys());
    let idle = leases;
    try {
      const laneIds = leases.map(({ laneId }) => laneId);
      const heads = leases.length === 0 ? [] : await takeHeads(database.em(), { laneIds, token, holdAttempts });
      for (const claimed of heads) {
        const standing = standings.get(keyOf({ id: claimed.endpoint.id, accountId: claimed.account.id }));
        if (!standing) throw new Error('A lane was leased that nobody asked for');
        idleProbes.delete(claimed.endpoint.id);
        this.#begin(claimed, standing);
      }
      const taken = new Set(heads.map(({ laneId }) => laneId));
      idle = leases.filter(({ laneId }) => !taken.has(laneId));
      if (idle.length > 0) idle = await database.em().transactional((em) => releaseLanes(em, idle, holdAttempts));
      this.#options.leases.abandon(idle);
      if (idleProbes.size > 0) await giveBackProbes(database.em(), kind, [...idleProbes]).catch(failed);
    } catch (error) {
      if (isPassing(error)) this.#options.leases.abandon(idle);
      throw error;
    }
  }

  #begin(claimed: Claimed, standing: DueEndpoint): void {
    const { slots, leases, track } = this.#options;
    const slot = slots.take(standing);
    leases.hold(claimed);
    track(this.#make(claimed, slot));
  }

  async #make(claimed: Claimed, slot: Slot): Promise<void> {
    const outcome = await this.#deliver(claimed, slot.endpoint);
    this.#options.slots.give(slot, outcome);
    this.#options.leases.letGo(claimed);
    this.due.touch(slot.endpoint);
    this.wake();
  }

  // A defect must not end the engine: the lease expires, and the delivery is tried again. After a transient failure the
  // lease is ended early: expire it now instead of after leaseSeconds.
  async #deliver(claimed: Claimed, standing: DueEndpoint): Promise<EndpointOutcome> {
    const { deliver, results, leases, leaseSeconds, failed } = this.#options;
    try {
      const { finished, outcome } = await deliver(claimed, standing);
      if (finished) await results.add(finished);
      return outcome;
    } catch (error) {
      if (isPassing(error)) leases.abandon([claimed], Math.min(pauseAfter(claimed), leaseSeconds));
      failed(error);
      return isPassing(error) ? 'skipped' : 'failed';
    }
  }
}
