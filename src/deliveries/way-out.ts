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

/** Options that all ways out have in common. */
export type WayOutOptions = LearningOptions & GivingOptions;

/** An attempt on the way, and what there is to tell of it. */
export interface Made {
  /** Null when the delivery is another process's by now. */
  verdict: Verdict | null;
  /** Whether the verdict is written already, together with what follows from it. */
  isSettled: boolean;
  outcome: EndpointOutcome;
  /** The bot's or the system's own word for what went wrong, for the log. */
  detail: string | null;
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
  // A bot inside the service that left no result has failed as well; that of a server is for its circuit to judge.
  const judge = async (tx: Transaction): Promise<void> => {
    if (endpoint.url === null) quarantine = await countFailedRun(tx, endpoint.id, 'defect');
  };
  const isOurs = await giveToPeople(options, { claimed, verdict, note, judge });
  if (isOurs && quarantine)
    tellQuarantine(options.log, { account: account.id, bot: endpoint.id, outcome: 'defect' }, quarantine);
  return { ...made, verdict: isOurs ? verdict : null, isSettled: true };
}

/** Makes attempts as `make` says; what was claimed too often without a result ends instead. Each failure leaves a line in the log. */
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
