import { OperatorError } from '../../lib/operator-error.ts';
import type { Shape } from '../../schemas.ts';
import { printAnswer } from '../terminal/print.ts';
import { readList, serviceOf } from '../service.ts';
import { accountPathOf, type AccountOptions } from './account-of.ts';
import { awaitAttempt, sentenceOf } from './resend.ts';

type Webhook = Shape<'resources/webhook'>;

/** The command `trigger`: sends a sample of an event to one webhook, or to all active ones that are subscribed to it. */
export async function triggerEvent(event: string, options: AccountOptions & { webhook?: number }): Promise<void> {
  const call = serviceOf(options);
  const account = await accountPathOf(call, options);
  const ids = options.webhook === undefined ? await subscribersOf(event) : [options.webhook];
  const made = await Promise.all(
    ids.map((id) => call<Shape<'resources/delivery'>>('POST', `${account}/webhooks/${id}/test`, { event })),
  );
  const payload = await Promise.all(made.map((delivery) => awaitAttempt(call, account, delivery)));
  printAnswer({ payload }, options, () => payload.map(sentenceOf));
  if (payload.some(({ state }) => state !== 'delivered')) process.exitCode = 1;

  async function subscribersOf(name: string): Promise<number[]> {
    const { payload: webhooks } = await readList<Webhook>(call, `${account}/webhooks`);
    const subscribed = webhooks.filter(({ active, subscriptions }) => active && subscriptions.includes(name));
    if (subscribed.length > 0) return subscribed.map(({ id }) => id);
    throw new OperatorError(`No active webhook is subscribed to ${name}: name one with --webhook.`);
  }
}
