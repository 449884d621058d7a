import type { Database } from '../postgres/database.ts';
import type { TouchedEndpoint } from '../postgres/wake-calls.ts';
import type { OutboundGate } from '../lib/outbound-gate.ts';
import type { Random } from '../lib/ports.ts';
import { foundWithBot } from '../records/bots/bot-to-run.ts';
import { freeBot } from '../records/bots/free-bot.ts';
import type { EndpointKind } from '../deliveries/core/endpoint.ts';
import type { Deliver } from './attempt.ts';
import { Slots, type WaitingRoom } from '../deliveries/core/slots.ts';
import { FinishBatch } from './finish-batch.ts';
import { Pump } from './pump.ts';
import { claiming, type ClaimUnlessHeld } from '../deliveries/lanes/claim.ts';
import { renewalsPerLease, renewLeases } from './lease-renewal.ts';

export interface EngineOptions {
  database: Database;
  random: Random;
  /** Whether deliveries may leave the service; those to bots that run in it are made anyway. */
  gate: OutboundGate;
  deliver: Record<EndpointKind, Deliver>;
  /** Deliveries in progress in this process, by kind of endpoint. */
  inFlight: Record<EndpointKind, number>;
  /** Limits of requested deliveries in progress (resends, recoveries, tests), of each kind and to one endpoint. */
  resent: { inFlight: number; endpointInFlight: number };
  /** Deliveries that may wait without a slot in this process. */
  room?: WaitingRoom;
  /** Deliveries in progress to one endpoint in this process. */
  endpointInFlight: number;
  leaseSeconds: number;
  holdAttempts: number;
  /** Milliseconds between two surveys while anything is due; otherwise surveys grow rare. */
  pollMs: number;
  /** Called when something becomes due later, with the milliseconds until then. */
  retries?: ((inMs: number) => void) | undefined;
  /** Called with errors of the engine itself, not of receivers. */
  failed: (error: unknown) => void;
}

/** The SQL of rows that are read along with a claim: for plugins the bot, with the conversation if there is one. */
const besides = {
  webhook: undefined,
  bot: `CASE WHEN e.conversation_id IS NULL THEN ${freeBot} ELSE ${foundWithBot} END`,
  automation: freeBot,
  channel: freeBot,
};

/**
 * Makes due deliveries: leases lanes in batches, makes one delivery per lane at a time and writes the results. Several
 * processes may run an engine on one database.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #pumps: readonly Pump[];
  #renewal: NodeJS.Timeout | null = null;
  #renewing: Promise<void> = Promise.resolve();

  constructor(options: EngineOptions) {
    this.#options = options;
    const results = new FinishBatch(options);
    // Requested deliveries have slots of their own, so that live deliveries never wait behind them.
    const pump = (kind: EndpointKind, isSide: boolean): Pump => {
      const { resent, room } = options;
      const bounds = isSide
        ? { total: resent.inFlight, perEndpoint: resent.endpointInFlight }
        : { total: options.inFlight[kind], perEndpoint: options.endpointInFlight };
      const slots = new Slots({ ...bounds, ...(room ? { room } : {}) });
      const isHeld = () => options.gate.heldFor !== null;
      const claim = claiming({ kind, isSide }, besides[kind]);
      const claimDue: ClaimUnlessHeld = (sql, wanted) => claim(sql, { ...wanted, isHeld: isHeld() });
      return new Pump({ ...options, isHeld, kind, isSide, claimDue, deliver: options.deliver[kind], slots, results });
    };
    // Nobody asks for deliveries to automations: their runs are replayed instead. Requests of hooks can be handled again.
    this.#pumps = [
      pump('webhook', false),
      pump('bot', false),
      pump('automation', false),
      pump('channel', false),
      pump('webhook', true),
      pump('bot', true),
      pump('channel', true),
    ];
  }

  /** Starts looking for due deliveries: at once, when poked, and when the next one is due. */
  start(): void {
    const renew = () => renewLeases(this.#options, () => this.#held);
    this.#renewal = setInterval(
      () => {
        this.#renewing = renew();
      },
      (this.#options.leaseSeconds * 1000) / renewalsPerLease,
    );
    for (const pump of this.#pumps) pump.start();
  }

  /** Announces that something may be due: at these endpoints, or anywhere. */
  poke(touched?: readonly TouchedEndpoint[]): void {
    for (const pump of this.#pumps) pump.poke(touched);
  }

  /** The number of deliveries in progress. */
  get inFlight(): number {
    return this.#held.length;
  }

  /** Claims nothing new; resolves when all deliveries in progress have ended and are written. */
  async stop(): Promise<void> {
    await Promise.all(this.#pumps.map((pump) => pump.stop()));
    if (this.#renewal) clearInterval(this.#renewal);
    await this.#renewing;
  }

  get #held() {
    return this.#pumps.flatMap(({ held }) => [...held]);
  }
}
