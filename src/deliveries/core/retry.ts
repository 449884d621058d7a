import type { OutboundResult } from '../../outbound/http.ts';
import type { Random } from '../../lib/ports.ts';

/** Whose endpoint a delivery goes to: an account's webhook or a bot's server. */
export type EndpointKind = 'account' | 'bot';

/** The attempt that has just ended. */
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

/** What happens to the delivery. `disable` ends it as well, and its endpoint with it: it answered 410 Gone. */
export type NextStep =
  | { readonly step: 'delivered' }
  | { readonly step: 'retry'; readonly delayMs: number }
  | { readonly step: 'exhausted'; readonly reason: GiveUpReason }
  | { readonly step: 'disable'; readonly reason: 'gone' };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The waits after the first, second, … failed attempt, in milliseconds, before jitter. */
export const RETRY_SCHEDULE: Readonly<Record<EndpointKind, readonly number[]>> = {
  account: [
    5 * SECOND,
    MINUTE,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
  ],
  bot: [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE],
};

/** The longest Retry-After that is honoured. A customer waits for a bot, so for bots it is their own longest wait. */
const MAX_RETRY_AFTER: Readonly<Record<EndpointKind, number>> = { account: 10 * HOUR, bot: 10 * MINUTE };
const OVERLOAD_WAIT = MINUTE;
const OVERLOAD_STATUSES: ReadonlySet<number | null> = new Set([429, 502, 503, 504]);
const MAX_JITTER = 0.2;
const GONE = 410;
const SECONDS = /^\d{1,10}$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Decides what follows an attempt. Pure. The wait is the longest of the schedule, a Retry-After, and (account webhooks
 * only) 60 s after a timeout, 429, 502, 503 or 504; then 0 to 20 % are added, so that it is never shorter.
 */
export function nextStep(finished: FinishedAttempt): NextStep {
  const { kind, attempt, result, random } = finished;
  if (result.ok) return { step: 'delivered' };
  if (result.status === GONE) return { step: 'disable', reason: 'gone' };
  const reason = hopelessReason(result);
  if (reason !== null) return { step: 'exhausted', reason };
  const scheduled = RETRY_SCHEDULE[kind][attempt - 1];
  if (scheduled === undefined) return { step: 'exhausted', reason: 'attempts_used_up' };
  const wait = Math.max(scheduled, overloadWait(finished), requestedWait(finished));
  return { step: 'retry', delayMs: Math.ceil(wait * (1 + MAX_JITTER * random.fraction())) };
}

function hopelessReason({ errorCode }: FinishedAttempt['result']): GiveUpReason | null {
  return errorCode === 'blocked_address' || errorCode === 'bad_url' || errorCode === 'bad_request' ? errorCode : null;
}

function overloadWait({ kind, result }: FinishedAttempt): number {
  if (kind === 'bot') return 0;
  return result.errorCode === 'timeout' || OVERLOAD_STATUSES.has(result.status) ? OVERLOAD_WAIT : 0;
}

function requestedWait({ kind, result, now }: FinishedAttempt): number {
  const value = result.headers['retry-after']?.trim() ?? '';
  const wait = SECONDS.test(value)
    ? Number(value) * SECOND
    : HTTP_DATE.test(value)
      ? Date.parse(value) - now.getTime()
      : 0;
  // Date.parse gives NaN for a date that only looks like one.
  return Number.isNaN(wait) ? 0 : Math.min(MAX_RETRY_AFTER[kind], Math.max(0, wait));
}
