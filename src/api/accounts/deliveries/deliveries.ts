import { readAgentBot } from '../../../domain/bots/bots.ts';
import { resend } from '../../../domain/endpoints/requested-deliveries.ts';
import { readWebhook } from '../../../domain/webhooks.ts';
import type { Principal } from '../../../domain/people/identity.ts';
import { findDelivery } from '../../../deliveries/log/attempts.ts';
import { findReceivers, knowsEvent, type EventReceiver } from '../../../deliveries/log/event-receivers.ts';
import { knowsConversation, listDeliveries } from '../../../deliveries/log/log.ts';
import { findWaits, type Wait } from '../../../deliveries/log/waits.ts';
import type { Endpoint } from '../../../deliveries/core/endpoint.ts';
import { notFound } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { Services } from '../../../http/route/call.ts';
import type { Sql } from '../../../postgres/sql.ts';
import type { Shape } from '../../../schemas.ts';
import { presentStretch, readCursor } from '../../cursor.ts';
import { requireEventNames } from '../../event-names.ts';
import { toFilter } from './delivery-filter.ts';
import { presentDelivery, presentDetail } from './delivery-records.ts';
import { presentLogged } from './endpoint-verbs.ts';
import { requireShared, sharedWebhook } from './shares.ts';

const base = '/api/v1/accounts/:account_id';
const list = {
  query: 'requests/delivery.list.query',
  reply: 'resources/delivery-list',
  role: 'administrator',
} as const;

export const deliveryRoutes = [
  doors.account(
    ['GET', `${base}/deliveries`, 'List deliveries'],
    list,
    ({ services, sql, principal, account, query }) =>
      answerList(sql, { services, principal, accountId: account.id, endpoint: null, asked: query }),
  ),
  doors.account(
    ['GET', `${base}/webhooks/:id/deliveries`, 'List the deliveries of a webhook'],
    { ...list, role: 'developer' },
    async ({ services, sql, principal, account, params, query }) => {
      requireShared(principal, { kind: 'webhook', id: params.id }, 'Webhook');
      const { id } = await readWebhook(sql, account.id, params.id);
      const endpoint = { kind: 'webhook', id } as const;
      return answerList(sql, { services, principal, accountId: account.id, endpoint, asked: query });
    },
  ),
  doors.account(
    ['GET', `${base}/agent_bots/:id/deliveries`, 'List the deliveries of an agent bot'],
    list,
    async ({ services, sql, principal, account, params, query }) => {
      const { id } = await readAgentBot(sql, account.id, params.id);
      const endpoint = { kind: 'bot', id } as const;
      return answerList(sql, { services, principal, accountId: account.id, endpoint, asked: query });
    },
  ),
  doors.account(
    ['GET', `${base}/events/:id/deliveries`, 'List the webhooks that got an event, and why others did not'],
    { reply: 'resources/event-deliveries', role: 'administrator' },
    async ({ services: { holdAttempts, gate }, sql, account, params }) => {
      if (!(await knowsEvent(sql, account.id, params.id))) throw notFound('Event');
      const receivers = await findReceivers(sql, account.id, params.id);
      const deliveries = receivers.flatMap((receiver) => receiver.deliveries);
      const waits = await findWaits(sql, { accountId: account.id, deliveries, holdAttempts, gate });
      return { payload: receivers.map((receiver) => presentReceiver(receiver, waits)) };
    },
  ),
  doors.account(
    ['GET', `${base}/deliveries/:id`, 'Get a delivery with its attempts'],
    { reply: 'resources/delivery-detail', record: true, role: 'developer' },
    async ({ services: { holdAttempts, gate }, sql, principal, account, params }) => {
      const delivery = await findDelivery(sql, account.id, params.id);
      if (!delivery) throw notFound('Delivery');
      requireShared(principal, delivery.endpoint, 'Delivery');
      const waits = await findWaits(sql, { accountId: account.id, deliveries: [delivery], holdAttempts, gate });
      return presentDetail(delivery, waits.get(delivery.id));
    },
  ),
  doors.account(
    ['POST', `${base}/deliveries/:id/resend`, 'Resend a delivery'],
    {
      reply: 'resources/delivery',
      role: 'developer',
      status: 202,
      errors: [409],
      description:
        "Makes a new delivery of the same event with the same `webhook-id`, at once and out of order; it holds no other back. When it arrives, a pending original ends as delivered. Refused (409) while an attempt is running, to an endpoint that is switched off or deleted, and for what a bot's plugin handles in a run, which can be replayed instead.",
    },
    ({ services, principal, params, transact }) =>
      transact(async (tx) => presentLogged(tx, await resend(tx, params.id, sharedWebhook(principal)), services)),
  ),
];

function presentReceiver({ id, url, name, deliveries, unsent }: EventReceiver, waits: ReadonlyMap<number, Wait>) {
  return {
    webhook_id: id,
    url,
    name,
    state: deliveries.at(-1)?.state ?? `not sent: ${unsent}`,
    not_sent: unsent,
    deliveries: deliveries.map((delivery) => presentDelivery(delivery, waits.get(delivery.id))),
  };
}

interface Asked {
  services: Services;
  principal: Principal;
  accountId: number;
  endpoint: Endpoint | null;
  asked: Shape<'requests/delivery.list.query'>;
}

async function answerList(sql: Sql, { services, principal, accountId, endpoint, asked }: Asked) {
  if (asked.event !== undefined) requireEventNames([asked.event], 'event');
  const of = endpoint ? ` of ${endpoint.kind} ${endpoint.id}` : '';
  const name = `deliveries${of} in account ${accountId}`;
  const filter = { ...toFilter(asked), endpoint, after: readCursor(services.secretBox, name, asked.cursor) };
  // Through a link, nobody learns which conversations the account has.
  const { conversationId } = filter;
  const isTold = sharedWebhook(principal) === null && conversationId !== null;
  if (isTold && !(await knowsConversation(sql, accountId, conversationId))) throw notFound('Conversation');
  const found = await listDeliveries(sql, accountId, filter);
  const { holdAttempts, gate, secretBox } = services;
  const waits = await findWaits(sql, { accountId, deliveries: found.rows, holdAttempts, gate });
  return presentStretch(found, (row) => presentDelivery(row, waits.get(row.id)), { secretBox, list: name });
}
