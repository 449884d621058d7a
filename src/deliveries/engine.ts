import type { Database, TouchedEndpoint } from '../postgres/database.ts';
import type { Random } from '../lib/ports.ts';
import type { EndpointKind } from './core/endpoint.ts';
import type { Deliver } from './attempt.ts';
import { Slots } from './core/slots.ts';
import { FinishBatch } from './finish-batch.ts';
import { HeldLeases, renewalsPerLease } from './held-leases.ts';
import { Pump } from './pump.ts';

export interface EngineOptions {
  database: Database;
  random: Random;
  deliver: Record<EndpointKind, Deliver>;
  /** Deliveries in progress in this process, by kind of endpoint. */
  inFlight: Record<EndpointKind, number>;
  /** Deliveries in progress to one endpoint in this process. */
  endpointInFlight: number;
  leaseSeconds: number;
  holdAttempts: number;
  pollMs: number;
  /** Called with errors of the engine itself, not of receivers. */
  failed: (error: unknown) => void;
}

/**
 * Makes due deliveries: leases lanes in batches, makes one delivery per lane at a time and writes the results. Several
 * processes may run an engine on one database.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #leases: HeldLeases;
  readonly #pumps: Record<EndpointKind, Pump>;
  readonly #underWay = new Set<Promise<void>>();
  #poll: NodeJS.Timeout | null = null;
  #renewal: NodeJS.Timeout | null = null;

  constructor(options: EngineOptions) {
    this.#options = options;
    const leases = new HeldLeases({ ...options, ended: () => this.#eachPump((pump) => pump.due.touchAll()) });
    const results = new FinishBatch(options);
    const track = (work: Promise<void>) => this.#track(work);
    const pump = (kind: EndpointKind): Pump => {
      const slots = new Slots({ total: options.inFlight[kind], perEndpoint: options.endpointInFlight });
      return new Pump({ ...options, kind, deliver: options.deliver[kind], slots, leases, results, track });
    };
    this.#leases = leases;
    this.#pumps = { webhook: pump('webhook'), bot: pump('bot') };
  }

  /** Starts looking for due deliveries: at once, when poked, and every `pollMs`. */
  start(): void {
    const { pollMs, leaseSeconds } = this.#options;
    this.#poll = setInterval(() => this.poke(), pollMs);
    this.#renewal = setInterval(() => this.#track(this.#leases.renew()), (leaseSeconds * 1000) / renewalsPerLease);
    this.poke();
  }

  /** Announces that something may be due: at these endpoints, or anywhere. */
  poke(touched?: readonly TouchedEndpoint[]): void {
    if (touched === undefined) this.#eachPump((pump) => pump.due.touchAll());
    for (const endpoint of touched ?? []) this.#pumps[endpoint.kind].due.touch(endpoint);
    this.#eachPump((pump) => {
      if (pump.due.isTouched) pump.wake();
    });
  }

  /** The number of deliveries in progress. */
  get inFlight(): number {
    return this.#leases.size;
  }

  /** Claims nothing new; resolves when all deliveries in progress have ended and are written. */
  async stop(): Promise<void> {
    this.#eachPump((pump) => pump.stop());
    if (this.#poll) clearInterval(this.#poll);
    // A claim in progress may still begin deliveries.
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    if (this.#renewal) clearInterval(this.#renewal);
  }

  #eachPump(work: (pump: Pump) => void): void {
    for (const pump of Object.values(this.#pumps)) work(pump);
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }
}
