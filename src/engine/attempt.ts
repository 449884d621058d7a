import type { Logger } from 'pino';
import { countFailedRun, type Quarantine } from '../domain/bots/quarantine.ts';
import type { Transaction } from '../events/transaction.ts';
import { tellQuarantine } from '../runs/quarantine-log.ts';
import { isDefective, isHopeless, maxClaims } from '../deliveries/core/claims.ts';
import type { EndpointOutcome } from '../deliveries/core/circuit.ts';
import type { DueEndpoint } from '../deliveries/core/slots.ts';
import { withoutAttempt, type Verdict } from '../deliveries/core/verdict.ts';
import { tellFailure } from './failure-log.ts';
import { failMessage, giveToPeople, type GivingOptions } from './hand-off-failed.ts';
import type { Learn } from './endpoint-learning.ts';
import type { Claimed } from '../deliveries/lanes/claim.ts';
import type { Finished } from '../deliveries/lanes/finish.ts';
import { endsOthers, settleResend } from './settle-resend.ts';

/** A made attempt: the result to write, what it shows of the endpoint, and when the delivery is tried again. */
export interface Attempted {
  /** Null when the result is written already. */
  finished: Finished | null;
  outcome: EndpointOutcome;
  /** Whether the endpoint's state is still the one at the claim. */
  isAsKnown?: boolean;
  /** Whether the lane has another delivery that is due, where that is known already. */
  isDue?: boolean | null;
  /** Milliseconds until the next attempt; null when none follows. */
  retryInMs?: number | null;
}

/** Called when an attempt begins to wait for something other than its endpoint; the returned function, when it goes on. */
export type OnWait = () => () => void;

/** Makes one attempt on an endpoint; `standing` is the endpoint's state when the delivery was claimed. */
export type Deliver = (claimed: Claimed, standing: DueEndpoint, onWait?: OnWait) => Promise<Attempted>;

export interface AttemptOptions extends GivingOptions {
  log: Pick<Logger, 'info' | 'warn'>;
}

/** A call that was made on a way out, with what is logged of it. */
export interface Made {
  /** Null when another process has taken over the delivery. */
  verdict: Verdict | null;
  /** Whether the verdict has been written already, together with its consequences. */
  isSettled: boolean;
  /** Whether the lane has another delivery that is due, where the verdict has been written. */
  isDue?: boolean;
  outcome: EndpointOutcome;
  /** The error message of the bot or the service, for the log. */
  detail: string | null;
}

interface WayOut {
  call: (claimed: Claimed, standing: DueEndpoint, onWait?: OnWait) => Promise<Made>;
  /** Stores what an attempt shows of its endpoint; left out for endpoints without health of their own. */
  learn?: Learn;
}

/**
 * Makes attempts by `call`, except for deliveries claimed too often without a result, which end. Logs each failure, and
 * learns from each attempt that shows something new, before its result frees the lane.
 */
export function attempts(options: AttemptOptions, { call, learn }: WayOut): Deliver {
  return async (claimed, standing, onWait) => {
    const made = isDefective(claimed) ? await endDefective(options, claimed) : await call(claimed, standing, onWait);
    const isAsKnown =
      !learn || (made.outcome === 'delivered' && standing.isProven === true && standing.circuit === 'closed');
    if (!isAsKnown) await learn(claimed, standing, made.outcome);
    const ended = endsOthers(claimed, made) ? await settleResend(options, claimed, made) : made;
    return { outcome: made.outcome, isAsKnown, ...resultOf(options, claimed, ended) };
  };
}

function resultOf({ log }: AttemptOptions, claimed: Claimed, { verdict, isSettled, isDue, detail }: Made) {
  if (verdict === null) return { finished: null, retryInMs: null };
  if (verdict.state === 'pending' || verdict.state === 'exhausted') tellFailure(log, claimed, verdict, detail);
  const retryInMs = verdict.state === 'pending' ? verdict.delayMs : null;
  const { deliveryId, laneId, token } = claimed;
  return { finished: isSettled ? null : { ...verdict, deliveryId, laneId, token }, isDue: isDue ?? null, retryInMs };
}

async function endDefective(options: AttemptOptions, claimed: Claimed): Promise<Made> {
  const verdict = withoutAttempt('exhausted', 'defect');
  const made = {
    verdict,
    isSettled: false,
    outcome: 'skipped',
    detail: `${maxClaims} attempts left no result`,
  } as const;
  if (claimed.endpoint.kind === 'webhook' || claimed.trigger !== 'live' || isHopeless(claimed)) return made;
  const { account, endpoint } = claimed;
  let quarantine: Quarantine | null = null;
  // A missing result of a plugin counts as a failed run; a bot's server is judged by its circuit.
  const judge = async (tx: Transaction): Promise<void> => {
    if (endpoint.runs) quarantine = await countFailedRun(tx, endpoint.id, 'defect');
  };
  const ending = { claimed, verdict, judge };
  const isOurs = await (endpoint.kind === 'channel'
    ? failMessage(options, { ...ending, note: `The channel left no result ${maxClaims} times (defect)` })
    : giveToPeople(options, {
        ...ending,
        note: `The bot left no result ${maxClaims} times (defect). Please take over.`,
      }));
  if (isOurs && quarantine)
    tellQuarantine(options.log, { account: account.id, bot: endpoint.id, outcome: 'defect' }, quarantine);
  return { ...made, verdict: isOurs ? verdict : null, isSettled: true };
}
