import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../lib/ports.ts';
import type { CallService } from '../../lib/service-client.ts';
import type { Shape } from '../../schemas.ts';
import { printAnswer } from '../terminal/print.ts';
import { serviceOf } from '../service.ts';
import { accountPathOf, type AccountOptions } from './account-of.ts';
import { endpointOf } from './list.ts';

type Delivery = Shape<'resources/delivery'>;

const pollMs = 200;
// A receiver has ten seconds, and the delivery may wait for a slot.
const patienceMs = 30_000;

/** The command `deliveries resend`: sends a delivery again and, with `wait`, prints the result of its first attempt. */
export async function resendDelivery(id: number, options: AccountOptions & { wait: boolean }): Promise<void> {
  const call = serviceOf(options);
  const account = await accountPathOf(call, options);
  const made = await call<Delivery>('POST', `${account}/deliveries/${id}/resend`, {});
  const ended = options.wait ? await awaitAttempt(call, account, made) : made;
  printAnswer(ended, options, () => [sentenceOf(ended)]);
  if (options.wait && ended.state !== 'delivered') process.exitCode = 1;
}

/** Returns the delivery after its first attempt; after 30 seconds, or where the service sends nothing, as it is. */
export async function awaitAttempt(call: CallService, account: string, made: Delivery): Promise<Delivery> {
  const until = systemClock.now().getTime() + patienceMs;
  for (;;) {
    const { attempts, ...delivery } = await call<Shape<'resources/delivery-detail'>>(
      'GET',
      `${account}/deliveries/${made.id}`,
    );
    const now = { ...delivery, attempts: attempts.length };
    if (now.state !== 'pending' || isHeld(now) || systemClock.now().getTime() > until) return now;
    await wait(pollMs);
  }
}

function isHeld(delivery: Pick<Delivery, 'waits_for'>): boolean {
  return delivery.waits_for?.reason === 'outbound';
}

/** Returns the result of a delivery as a sentence. */
export function sentenceOf(delivery: Delivery): string {
  const { id, event, state, last_status: status, last_error: error } = delivery;
  const why =
    error === null ? (status === null ? '' : `: ${status}`) : `: ${error}${status === null ? '' : ` ${status}`}`;
  const held = isHeld(delivery) ? ': the service sends nothing now' : '';
  return `${event} to ${endpointOf(delivery)} is delivery ${id}, ${state}${why}${held}`;
}
