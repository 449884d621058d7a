import { setImmediate as turn } from 'node:timers/promises';
import type { Database } from '../postgres/database.ts';
import type { TouchedEndpoint } from '../postgres/wake-calls.ts';
import type { Random } from '../lib/ports.ts';
import { isPassing } from '../postgres/errors.ts';
import type { Attempted, Deliver } from './attempt.ts';
import { AbandonedLeases } from './abandoned-leases.ts';
import { claimProbes } from './claim-probes.ts';
import { pauseAfter } from '../deliveries/core/claims.ts';
import { keyOf, type EndpointOfAccount } from '../deliveries/core/endpoint.ts';
import type { EndpointOutcome } from '../deliveries/core/circuit.ts';
import type { DueEndpoint, Share, Slot, Slots } from '../deliveries/core/slots.ts';
import type { FinishBatch } from './finish-batch.ts';
import { KnownEndpoints } from './known-endpoints.ts';
import type { Claim, Claimed, ClaimUnlessHeld } from '../deliveries/lanes/claim.ts';
import { countLanes } from '../deliveries/lanes/count-lanes.ts';
import { firstEndpoint, lookAt, surveyDue, type SurveyedLanes } from '../deliveries/lanes/due-endpoints.ts';
import { giveBackUnused } from './give-back-unused.ts';

export interface PumpOptions extends SurveyedLanes {
  database: Database;
  random: Random;
  claimDue: ClaimUnlessHeld;
  /** Makes an attempt on an endpoint of the kind. */
  deliver: Deliver;
  slots: Slots;
  results: FinishBatch;
  leaseSeconds: number;
  holdAttempts: number;
  pollMs: number;
  retries?: ((inMs: number) => void) | undefined;
  failed: (error: unknown) => void;
}

/** How a delivery ended, and the lane's next one if it keeps its lease. */
type Ended = { outcome: EndpointOutcome; next: Claimed | null };

/** Endpoints per survey; the next survey continues after them. */
const surveyed = 1_000;
/**
 * Surveys grow rare while nothing is due, up to this many times the poll's interval; those beside the live lanes, where
 * somebody has to ask for a delivery first, are rare from the start.
 */
const maxQuiet = { live: 20, side: 240 };
/** Lanes that become due one after the other are surveyed together. */
const gatherMs = 50;
/** An alarm, in case that this process ends, is for later than that: a rate is waited for in less than a second. */
const alarmedMs = 1_000;
/** A lane's turn while other lanes of its endpoint wait: deliveries under one lease, and milliseconds in which they begin. */
const turnDeliveries = 10;
const turnMs = 1_000;

/** Claims the due deliveries of its lanes, as many as there are slots, and makes them. */
export class Pump {
  /** The deliveries in progress, each with the lease of its lane. */
  readonly held = new Set<Claimed>();
  readonly #options: PumpOptions;
  readonly #underWay = new Set<Promise<void>>();
  // The endpoints that had something due when last looked at, those to look at next, and those that need no look.
  #due = new Map<string, DueEndpoint>();
  #touched: EndpointOfAccount[] = [];
  #stillDue: DueEndpoint[] = [];
  readonly #known = new KnownEndpoints();
  #mustSurvey = true;
  #after: EndpointOfAccount = firstEndpoint;
  readonly #abandoned: AbandonedLeases;
  #running = false;
  #again = false;
  #isOn = false;
  // The next survey: its timer, when it is made at the latest, when the next lane is known to be due; the last survey, and
  // the pause between two.
  #timer: NodeJS.Timeout | null = null;
  #surveyAt = 0;
  #nextDueAt = Infinity;
  #surveyedAt = 0;
  #pauseMs: number;

  constructor(options: PumpOptions) {
    this.#options = options;
    this.#abandoned = new AbandonedLeases(options.database);
    this.#pauseMs = options.isSide ? this.#quietMs : options.pollMs;
  }

  get #quietMs(): number {
    const { isSide, pollMs } = this.#options;
    return maxQuiet[isSide ? 'side' : 'live'] * pollMs;
  }

  start(): void {
    this.#isOn = true;
    this.#wake();
  }

  /** Starts a claim, or repeats the one in progress; before `start` nothing: something may be due at these endpoints, or anywhere. */
  poke(touched?: readonly TouchedEndpoint[]): void {
    if (touched === undefined) this.#mustSurvey = true;
    const { kind, isSide } = this.#options;
    this.#touched.push(...(touched ?? []).filter((one) => one.kind === kind && (one.isSide ?? false) === isSide));
    if (this.#mustSurvey || this.#touched.length > 0) this.#wake();
  }

  /** Starts no further claim; one in progress still begins its deliveries. Resolves when all have ended. */
  async stop(): Promise<void> {
    this.#isOn = false;
    if (this.#timer) clearTimeout(this.#timer);
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  #wake(): void {
    this.#again = true;
    if (!this.#running && this.#isOn) this.#track(this.#run());
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#again && this.#isOn) {
        this.#again = false;
        // Results that are written together free their slots together.
        await turn();
        await this.#claim();
      }
    } catch (error) {
      this.#lookLater();
      this.#options.failed(error);
    } finally {
      this.#running = false;
      this.#rest();
    }
  }

  // Forgets the known due times: they are as old as the failure, and would repeat it at once, again and again.
  #lookLater(): void {
    this.#mustSurvey = true;
    this.#pauseMs = this.#options.pollMs;
    this.#surveyAt = Infinity;
    this.#nextDueAt = Infinity;
  }

  // A safety net for missed announcements. Surveys are frequent while anything is due, and follow the known due times.
  #rest(): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (!this.#isOn) return;
    const isBusy = this.#due.size > 0 || this.#abandoned.size > 0 || this.#after.id > 0;
    if (isBusy) this.#pauseMs = this.#options.pollMs;
    this.#surveyAt = Math.min(this.#surveyAt, performance.now() + this.#pauseMs);
    const planned = Math.min(this.#surveyAt, Math.max(this.#nextDueAt, this.#surveyedAt + gatherMs));
    this.#timer = setTimeout(() => this.poke(), Math.max(0, planned - performance.now()));
  }

  async #claim(): Promise<void> {
    const { database, random, slots, claimDue, leaseSeconds, holdAttempts } = this.#options;
    if (this.#abandoned.size > 0 && (await this.#abandoned.end())) this.#mustSurvey = true;
    if (slots.free <= 0) return;
    const planned = slots.plan(await this.#look());
    for (const share of planned) if (share.circuit === 'probe') this.#due.delete(keyOf(share));
    const shares = planned.some(({ circuit }) => circuit === 'probe')
      ? await claimProbes(this.#options, planned)
      : planned;
    if (shares.length === 0) return;
    const token = random.uuid();
    const claim = await claimDue(database.sql, { shares, leaseSeconds, token, holdAttempts });
    this.#forgetServed(shares, claim);
    if (claim.heads.length + claim.idle.length > 0 && this.#due.size > 0) this.#again = true;
    this.#begin(shares, claim);
    await giveBackUnused(this.#options, { shares, claim, token, abandoned: this.#abandoned });
  }

  // Fewer lanes than wanted: the endpoint has nothing more that is due, or may not be called any more.
  #forgetServed(shares: readonly Share[], claim: Claim): void {
    const found = countLanes(claim);
    for (const share of shares) {
      const lanes = found.get(keyOf(share)) ?? 0;
      if (lanes < share.lanes || share.rate) this.#due.delete(keyOf(share));
      this.#known.learn(share, lanes);
      if (share.rate) this.#followRate(share, share.rate.perSecond, lanes);
    }
  }

  // A claim has taken tokens: the endpoint is looked at again with the next delivery that ends, and when it has a token.
  #followRate(share: Share, perSecond: number, lanes: number): void {
    if (lanes === share.lanes) this.#touched.push(share);
    this.#nextDueAt = Math.min(this.#nextDueAt, performance.now() + Math.max(1_000 / perSecond, gatherMs));
  }

  // Looking at the touched endpoints only keeps a claim cheap while many endpoints have something due but no slot.
  async #look(): Promise<Iterable<DueEndpoint>> {
    const { database } = this.#options;
    if (this.#mustSurvey) await this.#survey();
    for (const endpoint of this.#stillDue.splice(0)) this.#due.set(keyOf(endpoint), endpoint);
    const touched: EndpointOfAccount[] = [];
    for (const endpoint of this.#touched.splice(0)) {
      const known = this.#known.get(endpoint);
      if (known) this.#due.set(keyOf(known), known);
      else touched.push(endpoint);
    }
    if (touched.length === 0) return this.#due.values();
    const found = await lookAt(database.sql, this.#options, touched);
    for (const endpoint of touched) this.#due.delete(keyOf(endpoint));
    for (const [key, endpoint] of found) this.#due.set(key, endpoint);
    return this.#due.values();
  }

  async #survey(): Promise<void> {
    const { kind, isSide, isHeld, database, retries } = this.#options;
    this.#mustSurvey = false;
    this.#surveyedAt = performance.now();
    const isFirst = this.#after.id === 0;
    const stretch = { kind, isSide, after: this.#after, limit: surveyed, isHeld };
    const { due, next, nextInMs } = await surveyDue(database.sql, stretch);
    this.#after = next;
    this.#due = new Map(due.map((endpoint) => [keyOf(endpoint), endpoint]));
    for (const endpoint of due) if (endpoint.circuit !== 'closed') this.#known.forget(endpoint);
    if (nextInMs !== null && nextInMs >= alarmedMs) retries?.(nextInMs);
    const nextDueAt = nextInMs === null ? Infinity : performance.now() + nextInMs;
    this.#nextDueAt = isFirst ? nextDueAt : Math.min(this.#nextDueAt, nextDueAt);
    this.#surveyAt = performance.now() + this.#pauseMs;
    this.#pauseMs = Math.min(this.#quietMs, 2 * this.#pauseMs);
  }

  #begin(shares: readonly Share[], { heads }: Claim): void {
    const standings = new Map(shares.map((share) => [keyOf(share), share]));
    for (const claimed of heads) {
      const standing = standings.get(keyOf({ id: claimed.endpoint.id, accountId: claimed.account.id }));
      if (!standing) throw new Error('A lane was leased that nobody asked for');
      this.held.add(claimed);
      this.#track(this.#make(claimed, this.#options.slots.take({ ...standing, isProven: claimed.endpoint.isProven })));
    }
  }

  // A lane's next deliveries follow under the same lease as long as each succeeds, the turn lasts and no other endpoint waits.
  async #make(head: Claimed, firstSlot: Slot): Promise<void> {
    const { slots } = this.#options;
    const until = performance.now() + turnMs;
    let [claimed, slot]: [Claimed | null, Slot] = [head, firstSlot];
    for (let made = 1; claimed; made++) {
      const hasTurn = made < turnDeliveries && performance.now() < until;
      const { outcome, next }: Ended = await this.#deliver(claimed, slot, hasTurn);
      this.held.delete(claimed);
      if (next) this.held.add(next);
      const isMoreDue = this.#due.size > 0 || this.#stillDue.length > 0 || this.#touched.length > 0;
      if (isMoreDue || this.#abandoned.size > 0) this.#wake();
      else this.#rest();
      slots.give(slot, outcome);
      if (next) slot = slots.take({ ...slot.endpoint, isProven: next.endpoint.isProven });
      claimed = next;
    }
  }

  // The slot serves others while the delivery waits.
  #leave(slot: Slot): () => void {
    const comeBack = this.#options.slots.leave(slot);
    this.#touched.push(slot.endpoint);
    this.#wake();
    return comeBack;
  }

  // A defect must not end the engine: the lease expires, and the delivery is tried again. After a transient failure the
  // lease is ended early: expire it now instead of after leaseSeconds.
  async #deliver(claimed: Claimed, slot: Slot, hasTurn: boolean): Promise<Ended> {
    const { deliver, leaseSeconds, failed } = this.#options;
    try {
      const attempted = await deliver(claimed, slot.endpoint, () => this.#leave(slot));
      return { outcome: attempted.outcome, next: await this.#conclude(attempted, slot, hasTurn) };
    } catch (error) {
      this.#noteDue(slot.endpoint, null, false);
      if (isPassing(error)) this.#abandoned.add([claimed], Math.min(pauseAfter(claimed), leaseSeconds));
      failed(error);
      return { outcome: isPassing(error) ? 'skipped' : 'failed', next: null };
    }
  }

  async #conclude({ finished, isDue = null, isAsKnown = false, retryInMs }: Attempted, slot: Slot, hasTurn: boolean) {
    const goesOn =
      hasTurn &&
      isAsKnown &&
      slot.endpoint.rate === null &&
      this.#isOn &&
      !this.#options.slots.isWanted(slot, this.#due);
    const after = finished ? await this.#options.results.add({ ...finished, goesOn }) : { isDue, next: null };
    if (after.next) return after.next;
    this.#noteDue(slot.endpoint, after.isDue, isAsKnown);
    if (!retryInMs) return null;
    this.#nextDueAt = Math.min(this.#nextDueAt, performance.now() + retryInMs);
    this.#options.retries?.(retryInMs);
    return null;
  }

  #noteDue(endpoint: DueEndpoint, isDue: boolean | null, isAsKnown: boolean): void {
    if (!isAsKnown) this.#known.forget(endpoint);
    if (isDue && isAsKnown) this.#stillDue.push(endpoint);
    else if (isDue !== false || !isAsKnown) this.#touched.push(endpoint);
  }
}
