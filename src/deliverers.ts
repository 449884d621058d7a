import type { Database } from './database.ts';
import { handOff } from './domain/conversations.ts';
import { disableWebhook } from './domain/webhooks.ts';
import type { Claimed, EndpointKind } from './engine/claim.ts';
import { deliverByHttp, type DelivererPorts } from './engine/deliver.ts';
import type { Deliver } from './engine/engine.ts';
import { finishDeliveries } from './engine/finish.ts';
import { system, transact } from './events/transaction.ts';
import type { BotRunner } from './runtime/run-bot.ts';

export interface DelivererOptions extends DelivererPorts {
  database: Database;
  botRunner: BotRunner;
  holdAttempts: number;
}

function toWebhook(options: DelivererOptions): Deliver {
  return async (claimed) => {
    const { finished, step } = await deliverByHttp(claimed, options);
    if (step?.step !== 'disable') return finished;
    await transact(options.database, { account: claimed.account, actor: system }, async (tx) => {
      await finishDeliveries(tx.em, [finished], options.holdAttempts);
      await disableWebhook(tx, claimed.endpoint.id, 'The receiver answered 410 Gone');
    });
    return null;
  };
}

// A bot's server that cannot be reached must not leave its customer waiting.
function toBotServer(options: DelivererOptions): Deliver {
  return async (claimed) => {
    const { finished } = await deliverByHttp(claimed, options);
    const { conversationId } = claimed.event;
    if (finished.state !== 'exhausted' || conversationId === null) return finished;
    await transact(options.database, { account: claimed.account, actor: system }, async (tx) => {
      const note = `The bot could not be reached (${finished.errorCode ?? finished.status}). Please take over.`;
      await handOff(tx, conversationId, { silence: 'bot_failed', note });
      await finishDeliveries(tx.em, [finished], options.holdAttempts);
    });
    return null;
  };
}

function toPlugin({ botRunner, holdAttempts }: DelivererOptions): Deliver {
  return async (claimed: Claimed) => {
    const { deliveryId, laneId, token, account, event, endpoint, body, attempt } = claimed;
    const { id, name, conversationId, depth } = event;
    if (conversationId === null) throw new Error('A bot hears only of conversations');
    const input = { account, botId: endpoint.id, event: { id, name, conversationId, depth }, body, attempt };
    await botRunner.handle(input, async (tx, verdict) => {
      const finished = { deliveryId, laneId, token, status: null, responseBody: null, ...verdict };
      return (await finishDeliveries(tx.em, [finished], holdAttempts)).length > 0;
    });
    return null;
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
