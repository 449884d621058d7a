import { countFailedRun, type Quarantine } from '../domain/bots/quarantine.ts';
import type { Transaction } from '../events/transaction.ts';
import { tellQuarantine } from '../runs/quarantine-log.ts';
import type { Deliver } from './attempt.ts';
import { isDefective, isHopeless, maxClaims } from './core/claims.ts';
import type { EndpointOutcome } from './core/circuit.ts';
import type { DueEndpoint } from './core/slots.ts';
import { withoutAttempt, type Verdict } from './core/verdict.ts';
import { tellFailure } from './failure-log.ts';
import { giveToPeople, type GivingOptions } from './give-to-people.ts';
import type { LearningOptions } from './learning.ts';
import { finishedWith } from './queue/finish.ts';
import type { Claimed } from './queue/claim.ts';

/** Options of all ways out. */
export type WayOutOptions = LearningOptions & GivingOptions;

/** A made attempt, with what is logged of it. */
export interface Made {
  /** Null when another process has taken over the delivery. */
  verdict: Verdict | null;
  /** Whether the verdict has been written already, together with its consequences. */
  isSettled: boolean;
  outcome: EndpointOutcome;
  /** The error message of the bot or the service, for the log. */
  detail: string | null;
}

/** Makes attempts by `make`, except for deliveries claimed too often without a result, which end. Logs each failure. */
export function wayOut(
  options: WayOutOptions,
  make: (claimed: Claimed, standing: DueEndpoint) => Promise<Made>,
): Deliver {
  return async (claimed, standing) => {
    const made = isDefective(claimed) ? await endDefective(options, claimed) : await make(claimed, standing);
    const { verdict, isSettled, outcome, detail } = made;
    if (verdict?.state === 'pending' || verdict?.state === 'exhausted')
      tellFailure(options.log, claimed, verdict, detail);
    return { finished: verdict && !isSettled ? finishedWith(claimed, verdict) : null, outcome };
  };
}

async function endDefective(options: WayOutOptions, claimed: Claimed): Promise<Made> {
  const verdict = withoutAttempt('exhausted', 'defect');
  const made = {
    verdict,
    isSettled: false,
    outcome: 'skipped',
    detail: `${maxClaims} attempts left no result`,
  } as const;
  if (claimed.endpoint.kind !== 'bot' || isHopeless(claimed)) return made;
  const note = `The bot left no result ${maxClaims} times (defect). Please take over.`;
  const { account, endpoint } = claimed;
  let quarantine: Quarantine | null = null;
  // For a plugin bot the missing result counts as a failed run; a webhook bot is judged by its circuit.
  const judge = async (tx: Transaction): Promise<void> => {
    if (endpoint.url === null) quarantine = await countFailedRun(tx, endpoint.id, 'defect');
  };
  const isOurs = await giveToPeople(options, { claimed, verdict, note, judge });
  if (isOurs && quarantine)
    tellQuarantine(options.log, { account: account.id, bot: endpoint.id, outcome: 'defect' }, quarantine);
  return { ...made, verdict: isOurs ? verdict : null, isSettled: true };
}
