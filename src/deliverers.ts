import type { Database } from './database.ts';
import { isForSpeakers, silenceOfBot } from './domain/arbiter.ts';
import { suspendBot } from './domain/bot-suspension.ts';
import { disableWebhook } from './domain/webhooks.ts';
import type { Claimed, EndpointKind } from './engine/claim.ts';
import { cancelled, deliverByHttp, type DelivererPorts } from './engine/deliver.ts';
import type { Deliver } from './engine/engine.ts';
import { finishDeliveries } from './engine/finish.ts';
import type { SlotOutcome } from './engine/slots.ts';
import { findConversation } from './entities/conversation.ts';
import { system, transact } from './events/transaction.ts';
import type { BotRunner, RunVerdict } from './runtime/run-bot.ts';

export interface DelivererOptions extends DelivererPorts {
  database: Database;
  botRunner: BotRunner;
  holdAttempts: number;
}

class StaleDelivery extends Error {}

function toWebhook(options: DelivererOptions): Deliver {
  return async (claimed) => {
    const { finished, outcome, step } = await deliverByHttp(claimed, options);
    if (step?.step !== 'disable') return { finished, outcome };
    await transact(options.database, { account: claimed.account, actor: system }, async (tx) => {
      await finishDeliveries(tx.em, [finished], options.holdAttempts);
      await disableWebhook(tx, claimed.endpoint.id, 'The receiver answered 410 Gone');
    });
    return { finished: null, outcome };
  };
}

// Somebody may have taken the conversation over since the event was written, or while a retry waited.
async function silenceNow(
  { database }: DelivererOptions,
  { account, event, endpoint }: Claimed,
): Promise<string | null> {
  if (event.conversationId === null || !isForSpeakers(event.name)) return null;
  const conversation = await findConversation(database.em(), account.id, event.conversationId);
  return conversation ? silenceOfBot(conversation, endpoint.id) : 'not_serving';
}

// A bot's server that cannot be reached must not leave its customer waiting.
function toBotServer(options: DelivererOptions): Deliver {
  return async (claimed) => {
    const silence = await silenceNow(options, claimed);
    if (silence !== null) return { finished: cancelled(claimed, silence), outcome: 'skipped' };
    const { finished, outcome } = await deliverByHttp(claimed, options);
    const { conversationId } = claimed.event;
    if (finished.state !== 'exhausted' || conversationId === null) return { finished, outcome };
    await transact(options.database, { account: claimed.account, actor: system }, async (tx) => {
      const note = `The bot could not be reached (${finished.errorCode ?? finished.status}). Please take over.`;
      await suspendBot(tx, conversationId, { botId: claimed.endpoint.id, silence: 'bot_failed', note });
      const written = await finishDeliveries(tx.em, [finished], options.holdAttempts);
      // Another process has taken the delivery over, and it is for that one to judge the bot.
      if (written.length === 0) throw new StaleDelivery();
    }).catch((error: unknown) => {
      if (!(error instanceof StaleDelivery)) throw error;
    });
    return { finished: null, outcome };
  };
}

// A full queue is not the plugin's doing.
function outcomeOfRun({ state, errorCode }: RunVerdict): SlotOutcome {
  if (state === 'delivered') return 'delivered';
  return state === 'cancelled' || errorCode === 'queue_full' ? 'skipped' : 'failed';
}

function toPlugin({ botRunner, holdAttempts }: DelivererOptions): Deliver {
  return async (claimed: Claimed) => {
    const { deliveryId, laneId, token, account, event, endpoint, body, attempt } = claimed;
    const { id, name, conversationId, depth } = event;
    if (conversationId === null) throw new Error('A bot hears only of conversations');
    const input = { account, botId: endpoint.id, event: { id, name, conversationId, depth }, body, attempt };
    let outcome: SlotOutcome = 'skipped';
    await botRunner.handle(input, async (tx, verdict) => {
      const finished = { deliveryId, laneId, token, status: null, responseBody: null, ...verdict };
      const written = await finishDeliveries(tx.em, [finished], holdAttempts);
      outcome = written.length > 0 ? outcomeOfRun(verdict) : 'skipped';
      return written.length > 0;
    });
    return { finished: null, outcome };
  };
}

/** How deliveries are made to each kind of endpoint. */
export function createDeliverers(options: DelivererOptions): Record<EndpointKind, Deliver> {
  const byHttp = toBotServer(options);
  const byPlugin = toPlugin(options);
  return {
    webhook: toWebhook(options),
    bot: (claimed) => (claimed.endpoint.url === null ? byPlugin(claimed) : byHttp(claimed)),
  };
}
