import { disableWebhook } from '../../domain/webhooks.ts';
import { system, transact } from '../../events/transaction.ts';
import { attempts, type AttemptOptions, type Deliver, type Made } from '../attempt.ts';
import { learning, type LearningOptions } from '../endpoint-learning.ts';
import { calleeOf } from '../../deliveries/core/refusal.ts';
import type { Verdict } from '../../deliveries/core/verdict.ts';
import { post, type PostOptions } from './post.ts';
import type { Claimed } from '../../deliveries/lanes/claim.ts';
import { finishDeliveries, finishedWith } from '../../deliveries/lanes/finish.ts';

type Options = AttemptOptions & LearningOptions & PostOptions;

/** Delivers to accounts' webhooks by a signed POST. A webhook that answers 410 Gone is switched off. */
export function toWebhook(options: Options): Deliver {
  const ports: PostOptions = { ...options, whenGone: (claimed, made) => switchOff(options, claimed, made) };
  const call = (claimed: Claimed) => post(claimed, calleeOf(claimed.endpoint), ports);
  return attempts(options, { call, learn: learning(options) });
}

// Lock order (deliveries/lanes/lock-order.ts): the webhook before the lane.
function switchOff(
  { database, holdAttempts }: Options,
  claimed: Claimed,
  made: Made & { verdict: Verdict },
): Promise<Made> {
  return transact(database, { account: claimed.account, actor: system }, async (tx) => {
    const isGone = await disableWebhook(tx, claimed.endpoint, 'gone');
    const verdict = isGone ? made.verdict : { ...made.verdict, state: 'pending' as const, delayMs: 0 };
    await finishDeliveries(tx.sql, [finishedWith(claimed, verdict)], holdAttempts);
    return { ...made, verdict, isSettled: true };
  });
}
