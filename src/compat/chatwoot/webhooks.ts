import { restOf } from './asking.ts';
import { theirFormat } from './format.ts';
import { leaveOut, without } from './json.ts';
import type { Asked, Json, Operation } from './operation.ts';
import { newSubscriptions, readSubscriptions } from '../../lib/chatwoot-subscriptions.ts';

const base = '/api/v1/accounts/:account_id/webhooks';

function readWebhook({ subscriptions, ...body }: Json): Json {
  const given = leaveOut(leaveOut(body, ['', null], ['name', 'url']), ['', 0], ['inbox_id']);
  return subscriptions === undefined ? given : { ...given, subscriptions: readSubscriptions(subscriptions) };
}

function readNewWebhook(body: Json): Json {
  return { ...theirFormat, ...readWebhook(body), subscriptions: newSubscriptions(body['subscriptions']) };
}

function theirWebhook(webhook: Json): Json {
  return { payload: { webhook: without(webhook, 'payload') } };
}

async function theirWebhooks(page: Json, asked: Asked): Promise<Json> {
  return { payload: { webhooks: await restOf(page, asked) } };
}

/** Webhooks of the account. */
export const webhookOperations: readonly Operation[] = [
  { method: 'GET', path: base, answer: theirWebhooks },
  { method: 'POST', path: base, wrapper: 'webhook', body: readNewWebhook, answer: theirWebhook },
  { method: 'GET', path: `${base}/:id`, answer: theirWebhook },
  { method: 'PATCH', path: `${base}/:id`, wrapper: 'webhook', body: readWebhook, answer: theirWebhook },
];
