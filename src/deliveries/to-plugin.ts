import type { BotRunner, RunVerdict } from '../runs/bot-runner.ts';
import { attempts, type AttemptOptions, type Deliver, type Made, type OnWait } from './attempt.ts';
import type { EndpointOutcome } from './core/circuit.ts';
import type { Verdict } from './core/verdict.ts';
import type { Claimed } from './queue/claim.ts';
import { finishedWith, settleDelivery, unlessStale } from './queue/finish.ts';

/** Delivers to plugin bots by a run, which settles the delivery in the transaction of its effects. */
export function toPlugin(options: AttemptOptions & { botRunner: BotRunner }): Deliver {
  return attempts(options, { call: (claimed, _, onWait) => runOn(claimed, options, onWait) });
}

async function runOn(
  claimed: Claimed,
  { botRunner, holdAttempts }: AttemptOptions & { botRunner: BotRunner },
  onWait?: OnWait,
): Promise<Made> {
  const { account, event, endpoint, body, attempt, failures } = claimed;
  const { id, name, conversationId, depth } = event;
  if (conversationId === null) throw new Error('A bot hears only of conversations');
  const told = { id, name, conversationId, depth };
  const waits = onWait ? { onWait } : {};
  const input = { account, botId: endpoint.id, event: told, body, attempt, failures, ...waits };
  let made: Made = { verdict: null, isSettled: true, outcome: 'skipped', detail: null };
  const isOurs = await unlessStale(() =>
    botRunner.handle(input, (tx, { detail = null, ...rest }) => {
      const verdict: Verdict = { status: null, responseBody: null, wire: null, ...rest };
      settleDelivery(tx, finishedWith(claimed, verdict), holdAttempts);
      made = { verdict, isSettled: true, outcome: outcomeOfRun(verdict), detail };
    }),
  );
  return isOurs ? made : { ...made, verdict: null, outcome: 'skipped' };
}

// A full queue is not the plugin's fault.
function outcomeOfRun({ state, errorCode }: Pick<RunVerdict, 'state' | 'errorCode'>): EndpointOutcome {
  if (state === 'delivered') return 'delivered';
  return state === 'cancelled' || errorCode === 'queue_full' ? 'skipped' : 'failed';
}
