import type { OutboundResult } from '../../outbound/http.ts';
import type { Random } from '../../lib/ports.ts';
import type { EndpointKind } from './endpoint.ts';

/** The attempt that has just finished. */
export interface FinishedAttempt {
  readonly kind: EndpointKind;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly result: Pick<OutboundResult, 'ok' | 'status' | 'headers' | 'errorCode'>;
  readonly now: Date;
  readonly random: Random;
}

/** Why no further attempt is made. */
type GiveUpReason = 'attempts_used_up' | 'blocked_address' | 'bad_url' | 'bad_request';

/** The next step of the delivery; `disable` (after 410 Gone) ends the delivery and switches its endpoint off. */
export type NextStep =
  | { readonly step: 'delivered' }
  | { readonly step: 'retry'; readonly delayMs: number }
  | { readonly step: 'exhausted'; readonly reason: GiveUpReason }
  | { readonly step: 'disable'; readonly reason: 'gone' };

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The waits after the first, second, … failed attempt, in milliseconds, before jitter. */
export const retrySchedule: Readonly<Record<EndpointKind, readonly number[]>> = {
  webhook: [
    5 * second,
    minute,
    5 * minute,
    30 * minute,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    20 * hour,
    24 * hour,
  ],
  bot: [second, 5 * second, 30 * second, 2 * minute, 10 * minute],
  // Runs decide by themselves whether they are tried again.
  automation: [],
  channel: [
    5 * second,
    30 * second,
    2 * minute,
    10 * minute,
    30 * minute,
    hour,
    2 * hour,
    4 * hour,
    8 * hour,
    8 * hour,
  ],
};

/**
 * Seconds that a bot's delivery waits behind an open circuit before people get the conversation: as long as the longest
 * wait of its schedule.
 */
export const botPatienceSeconds = Math.max(...retrySchedule.bot) / 1000;

/** The longest accepted Retry-After; for bots their own longest wait, because a customer waits. */
const maxRetryAfterMs: Readonly<Record<EndpointKind, number>> = {
  webhook: 10 * hour,
  bot: 10 * minute,
  automation: 0,
  channel: 10 * hour,
};
const overloadWaitMs = minute;
const overloadStatuses: ReadonlySet<number | null> = new Set([429, 502, 503, 504]);
const maxJitter = 0.2;
/** Status of a receiver that wants no more deliveries. */
export const goneStatus = 410;
const wholeSeconds = /^\d{1,10}$/;
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Returns the next step of a delivery that is tried only once. Pure. */
export function withoutRetry(step: NextStep): NextStep {
  return step.step === 'retry' ? { step: 'exhausted', reason: 'attempts_used_up' } : step;
}

/**
 * Decides what follows an attempt. Pure. The wait is the longest of the schedule, a Retry-After, and (account webhooks
 * only) 60 s after a timeout, 429, 502, 503 or 504; then 0 to 20 % are added, so that it is never shorter.
 */
export function nextStep(finished: FinishedAttempt): NextStep {
  const { kind, attempt, result, random } = finished;
  if (result.ok) return { step: 'delivered' };
  if (result.status === goneStatus) return { step: 'disable', reason: 'gone' };
  const reason = hopelessReason(result);
  if (reason !== null) return { step: 'exhausted', reason };
  const scheduled = retrySchedule[kind][attempt - 1];
  if (scheduled === undefined) return { step: 'exhausted', reason: 'attempts_used_up' };
  const wait = Math.max(scheduled, overloadWait(finished), requestedWait(finished));
  return { step: 'retry', delayMs: Math.ceil(wait * (1 + maxJitter * random.fraction())) };
}

function hopelessReason({ errorCode }: FinishedAttempt['result']): GiveUpReason | null {
  return errorCode === 'blocked_address' || errorCode === 'bad_url' || errorCode === 'bad_request' ? errorCode : null;
}

function overloadWait({ kind, result }: FinishedAttempt): number {
  if (kind === 'bot') return 0;
  return result.errorCode === 'timeout' || overloadStatuses.has(result.status) ? overloadWaitMs : 0;
}

function requestedWait({ kind, result, now }: FinishedAttempt): number {
  const value = result.headers['retry-after']?.trim() ?? '';
  const wait = wholeSeconds.test(value)
    ? Number(value) * second
    : httpDate.test(value)
      ? Date.parse(value) - now.getTime()
      : 0;
  // Date.parse returns NaN for an impossible date.
  return Number.isNaN(wait) ? 0 : Math.min(maxRetryAfterMs[kind], Math.max(0, wait));
}
