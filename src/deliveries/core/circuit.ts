import type { OutboundErrorCode, OutboundResult } from '../../outbound/http.ts';
import type { EndpointKind } from './endpoint.ts';

/** The conclusion from an attempt about its endpoint. */
export type EndpointOutcome = 'delivered' | 'failed' | 'unanswered' | 'skipped';

// No answer: the receiver is down, unreachable or too slow. A malformed answer is an answer.
const unansweredCodes: ReadonlySet<OutboundErrorCode | null> = new Set(['timeout', 'connect', 'reset', 'dns', 'tls']);

/** Returns the conclusion from a call's result about its endpoint. Pure. */
export function outcomeOf({ ok, errorCode }: Pick<OutboundResult, 'ok' | 'errorCode'>): EndpointOutcome {
  if (ok) return 'delivered';
  if (errorCode === 'aborted') return 'skipped';
  return unansweredCodes.has(errorCode) ? 'unanswered' : 'failed';
}

/** The health of an endpoint, from the results of its attempts. All times are the database's. */
export interface EndpointHealth {
  /** Whether the last attempt succeeded. */
  isProven: boolean;
  /** Failures since the last success. */
  consecutiveFailures: number;
  /** Consecutive attempts without an answer in time. */
  unansweredAttempts: number;
  /** The first failure since the last success. */
  failingSince: Date | null;
  /** Failed probes since the circuit opened, plus one for the opening; 0 while it is closed. */
  circuitTrips: number;
  /** When the open circuit admits the next attempt; null while it is closed. */
  circuitProbeAt: Date | null;
}

/** The health of an endpoint that is new, has another address, or was switched on again. */
export const unknownHealth: Readonly<EndpointHealth> = {
  isProven: false,
  consecutiveFailures: 0,
  unansweredAttempts: 0,
  failingSince: null,
  circuitTrips: 0,
  circuitProbeAt: null,
};

/** A finished attempt, and when it finished. */
export interface EndedAttempt {
  outcome: EndpointOutcome;
  /** Whether it was the probe of an open circuit. */
  isProbe: boolean;
  kind: EndpointKind;
  now: Date;
  /** In [0, 1): spreads the probes of endpoints that failed at the same time. */
  fraction: number;
}

/** How an attempt changed an endpoint's circuit; `expired` when the endpoint has failed for so long that it is switched off. */
export type HealthChange = 'opened' | 'closed' | 'expired' | null;

const opensAfter = 3;
const firstProbeMs = 5_000;
/** The longest interval between two probes; shorter for bots, because a customer waits. */
export const maxProbeMs = { webhook: 10 * 60_000, bot: 60_000, automation: 60_000, channel: 60_000 } as const;
const maxJitter = 0.2;
/** An endpoint with nothing but failures for this long is switched off, … */
export const maxFailingMs = 5 * 24 * 3_600_000;
/** … if there were this many of them: two failures with a quiet week between them say nothing about the week. */
export const minExpiringFailures = 10;

function probeAt(trips: number, { kind, now, fraction }: EndedAttempt): Date {
  const distance = Math.min(maxProbeMs[kind], firstProbeMs * 2 ** Math.min(trips - 1, 30));
  return new Date(now.getTime() + distance * (1 + maxJitter * fraction));
}

function succeed(health: EndpointHealth): { health: EndpointHealth; change: HealthChange } {
  return { health: { ...unknownHealth, isProven: true }, change: health.circuitProbeAt === null ? null : 'closed' };
}

// Every kind of failed probe keeps the circuit open: the deliveries behind it would fail too.
function tripsAfter({ circuitProbeAt, circuitTrips }: EndpointHealth, unanswered: number, isProbe: boolean): number {
  if (circuitProbeAt === null) return unanswered >= opensAfter ? 1 : 0;
  return isProbe ? circuitTrips + 1 : circuitTrips;
}

function fail(health: EndpointHealth, attempt: EndedAttempt): { health: EndpointHealth; change: HealthChange } {
  const unansweredAttempts = attempt.outcome === 'unanswered' ? health.unansweredAttempts + 1 : 0;
  const failingSince = health.failingSince ?? attempt.now;
  const circuitTrips = tripsAfter(health, unansweredAttempts, attempt.isProbe);
  const after: EndpointHealth = {
    isProven: false,
    consecutiveFailures: health.consecutiveFailures + 1,
    unansweredAttempts,
    failingSince,
    circuitTrips,
    circuitProbeAt: circuitTrips > health.circuitTrips ? probeAt(circuitTrips, attempt) : health.circuitProbeAt,
  };
  const hasFailedForLong = attempt.now.getTime() - failingSince.getTime() >= maxFailingMs;
  const hasExpired = hasFailedForLong && after.consecutiveFailures >= minExpiringFailures;
  // An endpoint that is switched off gets no probes.
  if (hasExpired) return { health: { ...after, circuitTrips: 0, circuitProbeAt: null }, change: 'expired' };
  return { health: after, change: health.circuitProbeAt === null && circuitTrips > 0 ? 'opened' : null };
}

/**
 * Computes the health of an endpoint after an attempt. Pure. The circuit opens after three consecutive attempts without an
 * answer, admits one probe at a time at intervals that double from 5 s, and closes with the first success.
 */
export function nextHealth(
  health: EndpointHealth,
  attempt: EndedAttempt,
): { health: EndpointHealth; change: HealthChange } {
  if (attempt.outcome === 'delivered') return succeed(health);
  if (attempt.outcome !== 'skipped') return fail(health, attempt);
  // A probe that was claimed but not made: the next one is due at once.
  const isOver = attempt.isProbe && health.circuitProbeAt !== null;
  return { health: isOver ? { ...health, circuitProbeAt: attempt.now } : health, change: null };
}
