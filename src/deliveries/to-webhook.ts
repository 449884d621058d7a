import { disableWebhook } from '../domain/webhooks.ts';
import { system, transact } from '../events/transaction.ts';
import type { Deliver } from './attempt.ts';
import { learning } from './learning.ts';
import { heedMove, post, type Posted, type PostOptions } from './post.ts';
import type { Claimed } from './queue/claim.ts';
import { finishDeliveries, finishedWith } from './queue/finish.ts';
import { wayOut, type Made, type WayOutOptions } from './way-out.ts';

type Options = WayOutOptions & PostOptions;

/** Delivers to accounts' webhooks by a signed POST. A webhook that answers 410 Gone is switched off. */
export function toWebhook(options: Options): Deliver {
  const deliver = wayOut(options, async (claimed) => {
    const posted = await post(claimed, options);
    if (posted.isGone) return switchOff(options, claimed, posted);
    return { ...posted, verdict: await heedMove(claimed, posted.verdict, options), isSettled: false };
  });
  return learning(options, deliver);
}

// Lock order (queue/lock-order.ts): the webhook before the lane.
function switchOff({ database, holdAttempts }: Options, claimed: Claimed, posted: Posted): Promise<Made> {
  return transact(database, { account: claimed.account, actor: system }, async (tx) => {
    const isGone = await disableWebhook(tx, claimed.endpoint, 'The receiver answered 410 Gone');
    const verdict = isGone ? posted.verdict : { ...posted.verdict, state: 'pending' as const, delayMs: 0 };
    await finishDeliveries(tx.em, [finishedWith(claimed, verdict)], holdAttempts);
    return { ...posted, verdict, isSettled: true };
  });
}
