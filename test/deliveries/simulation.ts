import { expect } from 'chai';
import { isDefective, pauseAfter } from '../../src/deliveries/core/claims.ts';
import { nextHealth, outcomeOf, unknownHealth, type EndpointOutcome } from '../../src/deliveries/core/circuit.ts';
import type { EndpointKind } from '../../src/deliveries/core/endpoint.ts';
import { withProbes } from '../../src/deliveries/core/probes.ts';
import { calleeOf, whyGivenUp } from '../../src/deliveries/core/refusal.ts';
import { botPatienceSeconds, nextStep } from '../../src/deliveries/core/retry.ts';
import { Slots, type DueEndpoint, type Slot } from '../../src/deliveries/core/slots.ts';
import {
  afterCall,
  afterMove,
  withoutAttempt,
  type CallResult,
  type Verdict,
} from '../../src/deliveries/core/verdict.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { dueAtOf, headOf, type ModelDelivery } from './lane-model.ts';

const answer: CallResult = {
  ok: false,
  status: null,
  headers: {},
  errorCode: null,
  errorDetail: null,
  durationMs: 1,
  times: { dns: null, connect: null, tls: null, firstByte: null },
  body: '',
};
const results = {
  ok: { ...answer, ok: true, status: 200 },
  gone: { ...answer, status: 410 },
  error: { ...answer, status: 500 },
  overloaded: { ...answer, status: 503, headers: { 'retry-after': '7200' } },
  timeout: { ...answer, errorCode: 'timeout' },
  blocked: { ...answer, errorCode: 'blocked_address' },
} satisfies Record<string, CallResult>;

/** The end of an attempt: the result of a call, or `lost` when no result could be written. */
export type Happening = keyof typeof results | 'lost';
export const happenings: readonly Happening[] = [...(Object.keys(results) as (keyof typeof results)[]), 'lost'];

/** A script of random choices, repeated from the start when used up. */
export interface Script {
  kind: EndpointKind;
  /** Deliveries per lane. */
  lanes: readonly number[];
  holdAttempts: number;
  happenings: readonly Happening[];
  /** In [0, 1). */
  fractions: readonly number[];
}

interface Lane {
  deliveries: ModelDelivery[];
  dueAt: number | null;
  isLeased: boolean;
}

interface Attempt {
  lane: Lane;
  delivery: ModelDelivery;
  slot: Slot;
  standing: DueEndpoint;
}

const leaseMs = 30_000;
const [total, perEndpoint] = [8, 3];

/** One endpoint and its lanes over time: only the pure core, with a scripted clock and scripted chance. */
export class Simulation {
  readonly lanes: Lane[];
  readonly slots = new Slots({ total, perEndpoint });
  readonly #script: Script;
  readonly #underWay: Attempt[] = [];
  #now = 0;
  #health = unknownHealth;
  #isOff = false;
  #drawn = 0;

  constructor(script: Script) {
    this.#script = script;
    const make = (_: unknown, at: number): ModelDelivery => {
      return { eventId: at, state: 'pending', dueAt: 0, failures: 0, claims: 0, attempt: 0 };
    };
    this.lanes = script.lanes.map((length) => {
      return { deliveries: Array.from({ length }, make), dueAt: 0, isLeased: false };
    });
  }

  get isOver(): boolean {
    return this.lanes.every(({ deliveries }) => deliveries.every(({ state }) => state !== 'pending'));
  }

  /** One step: claims deliveries, finishes an attempt, or advances the clock until something is due. */
  step(): void {
    const ends = this.#underWay.length > 0 && this.#fraction() < 0.5;
    if (!ends && this.#claim()) return;
    if (this.#underWay.length > 0) this.#end();
    else this.#wait();
  }

  #draw<Value>(values: readonly Value[]): Value {
    return values[this.#drawn++ % values.length]!;
  }

  #fraction(): number {
    return this.#draw(this.#script.fractions);
  }

  #circuit(): DueEndpoint['circuit'] {
    const { circuitProbeAt } = this.#health;
    if (circuitProbeAt === null) return 'closed';
    return circuitProbeAt.getTime() <= this.#now ? 'probe' : 'open';
  }

  #patienceMs(): number {
    if (this.#circuit() !== 'open') return 0;
    return this.#script.kind === 'bot' ? botPatienceSeconds * 1000 : Infinity;
  }

  #claim(): boolean {
    const dueBy = this.#now - this.#patienceMs();
    const due = this.lanes.filter(({ dueAt, isLeased }) => !isLeased && dueAt !== null && dueAt <= dueBy);
    const standing = { id: 1, accountId: 1, isProven: this.#health.isProven, circuit: this.#circuit(), rate: null };
    const [share] = due.length > 0 ? withProbes(this.slots.plan([standing]), new Set([1])) : [];
    if (!share) return false;
    if (share.circuit === 'probe') {
      expect(share.lanes).to.equal(1);
      this.#health = { ...this.#health, circuitProbeAt: new Date(this.#now + leaseMs) };
    }
    for (const lane of due.slice(0, share.lanes)) this.#begin(lane, standing);
    return true;
  }

  #begin(lane: Lane, standing: DueEndpoint): void {
    const { holdAttempts } = this.#script;
    const delivery = headOf(lane.deliveries, this.#now, holdAttempts);
    if (!delivery) throw new Error('A lane that is due has nothing to deliver');
    for (const { eventId, state, failures } of lane.deliveries) {
      if (eventId < delivery.eventId && state === 'pending') expect(failures, 'order').to.be.at.least(holdAttempts);
    }
    Object.assign(delivery, { attempt: delivery.attempt + 1, claims: delivery.claims + 1 });
    lane.isLeased = true;
    this.#underWay.push({ lane, delivery, slot: this.slots.take(standing), standing });
    expect(this.#underWay.length, 'attempts at once').to.be.at.most(perEndpoint);
  }

  #end(): void {
    const at = Math.floor(this.#fraction() * this.#underWay.length);
    const [attempt] = this.#underWay.splice(at, 1);
    if (!attempt) return;
    const { lane, delivery, slot, standing } = attempt;
    lane.isLeased = false;
    const ending = this.#make(delivery, standing);
    this.slots.give(slot, ending?.outcome ?? 'skipped');
    if (!ending) {
      lane.dueAt = this.#now + Math.min(pauseAfter(delivery) * 1000, leaseMs);
      return;
    }
    this.#learn(ending.outcome, standing);
    const { state, delayMs } = ending.verdict;
    const failures = delivery.failures + (state === 'delivered' ? 0 : 1);
    Object.assign(delivery, { state, failures, claims: 0, dueAt: this.#now + delayMs });
    if (this.#isOff) this.#cancel();
    lane.dueAt = dueAtOf(lane.deliveries, this.#script.holdAttempts);
  }

  // Null when the attempt is lost.
  #make(delivery: ModelDelivery, standing: DueEndpoint): { verdict: Verdict; outcome: EndpointOutcome } | null {
    const unmade = (verdict: Verdict) => ({ verdict, outcome: 'skipped' as const });
    if (isDefective(delivery)) return unmade(withoutAttempt('exhausted', 'defect'));
    const { kind } = this.#script;
    const disabledReason = kind === 'bot' && this.#isOff ? 'It has failed for days' : null;
    const reason = kind === 'bot' ? whyGivenUp({ disabledReason }, standing) : null;
    if (reason) return unmade(withoutAttempt('exhausted', reason));
    const callee = calleeOf({
      url: kind === 'webhook' && this.#isOff ? null : 'https://x.test',
      sealedSecret: 's',
      cancelReason: null,
    });
    if (typeof callee === 'string') return unmade(withoutAttempt('cancelled', callee));
    const happening = this.#draw(this.#script.happenings);
    if (happening === 'lost') return null;
    const result = results[happening];
    const random = { ...systemRandom, fraction: () => this.#fraction() };
    const step = nextStep({ kind, attempt: delivery.failures + 1, result, now: new Date(this.#now), random });
    if (step.step === 'disable' && kind === 'webhook') this.#isOff = true;
    const made = { startedAt: new Date(this.#now), sent: {} };
    return { verdict: afterMove(afterCall(step, result, made), callee.url, callee.url), outcome: outcomeOf(result) };
  }

  #learn(outcome: EndpointOutcome, { circuit }: DueEndpoint): void {
    if (this.#isOff) return;
    const { kind } = this.#script;
    const attempt = {
      outcome,
      isProbe: circuit === 'probe',
      kind,
      now: new Date(this.#now),
      fraction: this.#fraction(),
    };
    const { health, change } = nextHealth(this.#health, attempt);
    this.#health = health;
    this.#isOff = change === 'expired';
    if (change === 'closed') for (const lane of this.lanes) this.#wake(lane);
  }

  #wake(lane: Lane): void {
    if (lane.isLeased || lane.dueAt === null) return;
    for (const delivery of lane.deliveries) delivery.dueAt = Math.min(delivery.dueAt, this.#now);
    lane.dueAt = Math.min(lane.dueAt, this.#now);
  }

  // Attempts in progress end by themselves.
  #cancel(): void {
    this.#health = { ...this.#health, circuitTrips: 0, circuitProbeAt: null };
    if (this.#script.kind === 'bot') return;
    for (const lane of this.lanes.filter(({ isLeased }) => !isLeased)) {
      for (const delivery of lane.deliveries) if (delivery.state === 'pending') delivery.state = 'cancelled';
      lane.dueAt = null;
    }
  }

  #wait(): void {
    const probeAt = this.#health.circuitProbeAt?.getTime() ?? null;
    const times = this.lanes.flatMap(({ dueAt }) => (dueAt === null ? [] : [dueAt, dueAt + botPatienceSeconds * 1000]));
    const later = [...times, ...(probeAt === null ? [] : [probeAt])].filter((time) => time > this.#now);
    if (later.length === 0) throw new Error('Nothing will ever happen again');
    this.#now = Math.min(...later) + Math.floor(this.#fraction() * 1_000);
  }
}

/** The slots of a simulation. */
export const allSlots = total;
