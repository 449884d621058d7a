import type { BotRunner, RunVerdict, Settle } from '../../runs/bot-runner.ts';
import type { ChannelRunner } from '../../runs/channel-runner.ts';
import type { FreeRunner } from '../../runs/free-runner.ts';
import { toFound } from '../../records/bots/bot-to-run.ts';
import { toFreeBot } from '../../records/bots/free-bot.ts';
import { attempts, type Attempted, type AttemptOptions, type Deliver, type Made, type OnWait } from '../attempt.ts';
import type { EndpointOutcome } from '../../deliveries/core/circuit.ts';
import { continuesCode, withoutAttempt, type Verdict } from '../../deliveries/core/verdict.ts';
import type { Claimed } from '../../deliveries/lanes/claim.ts';
import { finishedWith, settleDelivery, unlessStale } from '../../deliveries/lanes/finish.ts';
import { copyLater } from '../../deliveries/copies/copies.ts';
import { forwardDelivery } from '../../deliveries/copies/forward.ts';
import { giveBackProbes } from '../../deliveries/lanes/probes.ts';

interface Options extends AttemptOptions {
  botRunner: BotRunner;
  /** Has channels send messages. */
  channelRunner: ChannelRunner;
  /** Runs automations, and bots and channels on events without a conversation. */
  freeRunner: FreeRunner;
  /** Delivers forwarded events to the bot's server. */
  forward: Deliver;
}

/**
 * Delivers to plugin bots, automations and channels by a run, which settles the delivery in the transaction of its effects. A run that forwards its
 * event leaves it claimed; the same attempt goes on to the bot's server, and so do those that follow it.
 */
export function toPlugin(options: Options): Deliver {
  return async (claimed, standing, onWait) => {
    let isForwarded = false;
    const { cancelReason } = claimed.endpoint;
    const call = async (): Promise<Made> => {
      if (cancelReason !== null)
        return { ...unsettled, isSettled: false, verdict: withoutAttempt('cancelled', cancelReason) };
      const made = await runOn(claimed, options, onWait);
      isForwarded = made === 'forwarded';
      return made === 'forwarded' ? unsettled : made;
    };
    const attempted = await attempts(options, { call })(claimed, standing, onWait);
    if (!isForwarded) return standing.circuit === 'probe' ? giveBackProbe(options, claimed, attempted) : attempted;
    const endpoint = { ...claimed.endpoint, runs: false };
    return options.forward({ ...claimed, failures: 0, claims: 1, endpoint }, standing, onWait);
  };
}

// A run that does not call the server proves nothing about it: another delivery becomes the probe.
async function giveBackProbe({ database }: Options, { endpoint }: Claimed, attempted: Attempted): Promise<Attempted> {
  await giveBackProbes(database.sql, endpoint.kind, [endpoint.id]);
  return { ...attempted, isAsKnown: false };
}

// Stands for a delivery that this attempt does not settle: it was forwarded, taken over or deleted.
const unsettled: Made = { verdict: null, isSettled: true, outcome: 'skipped', detail: null };

async function runOn(
  claimed: Claimed,
  { botRunner, freeRunner, channelRunner, holdAttempts }: Options,
  onWait?: OnWait,
): Promise<Made | 'forwarded'> {
  const { account, event, endpoint, body, attempt, failures } = claimed;
  const { id, name, conversationId, depth } = event;
  const waits = onWait ? { onWait } : {};
  const common = { account, botId: endpoint.id, body, attempt, failures, ...waits };
  const handle = (settle: Settle): Promise<void> => {
    if (conversationId === null || endpoint.kind === 'automation') {
      const heard = { id, name, conversationId, depth };
      const isRepeated = claimed.trigger !== 'live';
      return freeRunner.handle({ ...common, event: heard, found: toFreeBot(claimed.beside), isRepeated }, settle);
    }
    const heard = { id, name, conversationId, depth };
    if (endpoint.kind === 'channel')
      return channelRunner.send({ ...common, event: heard, found: toFreeBot(claimed.beside) }, settle);
    return botRunner.handle({ ...common, event: heard, found: toFound(claimed.beside) }, settle);
  };
  let made: Made | 'forwarded' = unsettled;
  const isOurs = await unlessStale(() =>
    handle((tx, { detail = null, forwards = false, againAfterMs, ...rest }) => {
      made = 'forwarded';
      if (forwards) return forwardDelivery(tx, claimed);
      const verdict: Verdict = { status: null, responseBody: null, wire: null, ...rest };
      const settled: Made = { verdict, isSettled: true, outcome: outcomeOfRun(verdict), detail };
      settleDelivery(tx, finishedWith(claimed, verdict), holdAttempts, (isDue) => {
        made = { ...settled, isDue };
      });
      if (againAfterMs !== undefined) tx.atCommit(copyLater(account.id, claimed.deliveryId, againAfterMs));
      made = settled;
    }),
  );
  return isOurs ? made : unsettled;
}

// A full queue, full memory and a busy machine are not the plugin's fault.
const missedOutcomes: ReadonlySet<string | null> = new Set(['queue_full', 'waiting_full', 'unavailable']);

function outcomeOfRun({ state, errorCode }: Pick<RunVerdict, 'state' | 'errorCode'>): EndpointOutcome {
  if (state === 'delivered' || errorCode === continuesCode) return 'delivered';
  return state === 'cancelled' || missedOutcomes.has(errorCode) ? 'skipped' : 'failed';
}
