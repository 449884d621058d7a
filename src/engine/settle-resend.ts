import { dueAt } from '../events/announcements.ts';
import { system, transact } from '../events/transaction.ts';
import type { Made } from './attempt.ts';
import type { GivingOptions } from './hand-off-failed.ts';
import type { Claimed } from '../deliveries/lanes/claim.ts';
import { answerCopies, lockCopies } from '../deliveries/copies/copies.ts';
import { finishDeliveries, finishedWith } from '../deliveries/lanes/finish.ts';

/** Whether an attempt's success ends other deliveries of the same event to the same endpoint: those that were resent. */
export function endsOthers({ trigger }: Claimed, { verdict, isSettled }: Made): boolean {
  return trigger === 'resend' && verdict?.state === 'delivered' && !isSettled;
}

/** Settles a delivery that was resent and has arrived, and with it the pending ones of the same event: they are delivered. */
export async function settleResend(
  { database, holdAttempts }: GivingOptions,
  claimed: Claimed,
  made: Made,
): Promise<Made> {
  const { account, deliveryId: id, endpoint } = claimed;
  const { verdict } = made;
  if (!verdict) return made;
  const isOurs = await transact(database, { account, actor: system }, async (tx) => {
    await lockCopies(tx.sql, account.id, id);
    const written = await finishDeliveries(tx.sql, [finishedWith(claimed, verdict)], holdAttempts);
    if (written.length === 0) return false;
    await answerCopies(tx.sql, { accountId: account.id, id, status: verdict.status, holdAttempts });
    tx.announce('committed', dueAt(endpoint, tx.account.id));
    return true;
  });
  return { ...made, verdict: isOurs ? verdict : null, isSettled: true };
}
