import type { OutboundErrorCode, OutboundResult } from '../../outbound/http.ts';
import type { EndpointKind } from './endpoint.ts';

/** How an attempt ended for its endpoint, as far as that says something of the endpoint. */
export type EndpointOutcome = 'delivered' | 'failed' | 'unanswered' | 'skipped';

// Without an answer: the receiver is down, out of reach, or too slow. An answer that makes no sense is one all the same.
const unansweredCodes: ReadonlySet<OutboundErrorCode | null> = new Set(['timeout', 'connect', 'reset', 'dns', 'tls']);

/** What a call says of the endpoint that was called. Pure. */
export function outcomeOf({ ok, errorCode }: Pick<OutboundResult, 'ok' | 'errorCode'>): EndpointOutcome {
  if (ok) return 'delivered';
  if (errorCode === 'aborted') return 'skipped';
  return unansweredCodes.has(errorCode) ? 'unanswered' : 'failed';
}

/** The health of an endpoint, by how attempts on it ended. All times are the database's. */
export interface EndpointHealth {
  /** Whether the last attempt succeeded. */
  isProven: boolean;
  /** Failures since the last success. */
  consecutiveFailures: number;
  /** Attempts running that got no answer, or none in time. */
  unansweredAttempts: number;
  /** The first failure since the last success. */
  failingSince: Date | null;
  /** Probes without success since the circuit opened, and the opening itself; 0 while it is closed. */
  circuitTrips: number;
  /** When the open circuit lets the next attempt through; null while it is closed. */
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

/** The attempt that ended, and when. */
export interface EndedAttempt {
  outcome: EndpointOutcome;
  /** Whether it was what an open circuit let through. */
  isProbe: boolean;
  kind: EndpointKind;
  now: Date;
  /** In [0, 1): spreads the probes of endpoints that failed together. */
  fraction: number;
}

/** How an attempt changed an endpoint's circuit. `expired`: it failed for so long that it is to be switched off. */
export type HealthChange = 'opened' | 'closed' | 'expired' | null;

const opensAfter = 3;
const firstProbeMs = 5_000;
/** The longest distance between two probes. A customer waits for a bot. */
export const maxProbeMs = { webhook: 10 * 60_000, bot: 60_000 } as const;
const maxJitter = 0.2;
/** An endpoint that has done nothing but fail for so long is switched off. */
export const maxFailingMs = 5 * 24 * 3_600_000;
/** Failures running that this takes as well: two failures with a quiet week between them say nothing of the week. */
export const minExpiringFailures = 10;

function probeAt(trips: number, { kind, now, fraction }: EndedAttempt): Date {
  const distance = Math.min(maxProbeMs[kind], firstProbeMs * 2 ** Math.min(trips - 1, 30));
  return new Date(now.getTime() + distance * (1 + maxJitter * fraction));
}

function succeed(health: EndpointHealth): { health: EndpointHealth; change: HealthChange } {
  return { health: { ...unknownHealth, isProven: true }, change: health.circuitProbeAt === null ? null : 'closed' };
}

// Until it succeeds a probe's failure, of whatever kind, keeps the circuit open: what waits behind it would fail too.
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
 * What follows from an attempt for its endpoint. Pure. The circuit opens after three attempts running that got no
 * answer, lets one probe through at a time, at a distance that doubles from 5 s on, and closes with the first success.
 */
export function nextHealth(
  health: EndpointHealth,
  attempt: EndedAttempt,
): { health: EndpointHealth; change: HealthChange } {
  if (attempt.outcome === 'delivered') return succeed(health);
  if (attempt.outcome !== 'skipped') return fail(health, attempt);
  // A probe that was not made after all leaves its turn to the next.
  const isOver = attempt.isProbe && health.circuitProbeAt !== null;
  return { health: isOver ? { ...health, circuitProbeAt: attempt.now } : health, change: null };
}
