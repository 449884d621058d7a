import { until } from './patience.ts';
import type { Trial } from './trial.ts';

/** Has everything sent again that was given up or cancelled, and waits for it. */
export async function recoverAll(trial: Trial, id: number): Promise<void> {
  const { id: recovery, count } = await trial.client.need('POST', `webhooks/${id}/recover`, { since: 0 });
  trial.check(count > 0, 'nothing was to be recovered');
  await until('the recovery', async () => {
    const { state } = await trial.client.need('GET', `webhooks/${id}/recover/${recovery}`);
    if (state === 'sending') await trial.settle();
    return state === 'done';
  });
}
