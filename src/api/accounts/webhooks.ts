import {
  createWebhook,
  deleteWebhook,
  readWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from '../../domain/webhooks.ts';
import { Webhook } from '../../records/webhook.ts';
import { invalid } from '../../errors.ts';
import { route, type OutsideServices } from '../../http/route/route.ts';
import { given } from '../given.ts';
import { pageMeta } from '../page.ts';
import { newWebhookSecret } from '../../lib/secret-box.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';
import { presentCircuit } from './circuit.ts';

const base = '/api/v1/accounts/:account_id/webhooks';
const webhooksPerPage = 25;

function presentWebhook(webhook: Webhook): Shape<'resources/webhook'> {
  return {
    id: webhook.id,
    account_id: webhook.accountId,
    url: webhook.url,
    name: webhook.name ?? null,
    subscriptions: webhook.subscriptions,
    active: webhook.active,
    disabled_reason: webhook.disabledReason ?? null,
    circuit: presentCircuit(webhook),
    inbox_id: webhook.inboxId ?? null,
    created_at: unixSeconds(webhook.createdAt),
    updated_at: unixSeconds(webhook.updatedAt),
  };
}

async function checkUrl({ outbound }: OutsideServices, url: string): Promise<void> {
  const problem = await outbound.checkUrl(url, { httpsOnly: false });
  if (problem) throw invalid('/url', problem.rule, problem.message);
}

export const webhookRoutes = [
  route(
    ['GET', base],
    { query: 'requests/page.query', reply: 'resources/webhook-list', role: 'administrator' },
    async ({ em, account, query: { page = 1 } }) => {
      const [webhooks, count] = await em.findAndCount(
        Webhook,
        { accountId: account.id },
        { orderBy: { id: 'asc' }, limit: webhooksPerPage, offset: (page - 1) * webhooksPerPage },
      );
      return { payload: webhooks.map(presentWebhook), meta: pageMeta(count, page, webhooksPerPage) };
    },
  ),
  route(
    ['POST', base],
    { body: 'requests/webhook.create', reply: 'resources/webhook-with-secret', role: 'administrator', status: 201 },
    {
      prepare: ({ services, body }) => checkUrl(services, body.url),
      handle: async ({ services, body, transact }) => {
        const secret = newWebhookSecret(services.random);
        const webhook = await transact((tx) =>
          createWebhook(tx, {
            url: body.url,
            name: body.name ?? null,
            subscriptions: body.subscriptions,
            inboxId: body.inbox_id ?? null,
            active: body.active ?? true,
            sealedSecret: services.secretBox.seal(secret),
          }),
        );
        return { ...presentWebhook(webhook), secret };
      },
    },
  ),
  route(['GET', `${base}/:id`], { reply: 'resources/webhook', role: 'administrator' }, async ({ em, account, ids }) =>
    presentWebhook(await readWebhook(em, account.id, ids.id ?? 0)),
  ),
  route(
    ['PATCH', `${base}/:id`],
    { body: 'requests/webhook.update', reply: 'resources/webhook', role: 'administrator' },
    {
      prepare: async ({ services, body: { url } }) => {
        if (url !== undefined) await checkUrl(services, url);
      },
      handle: async ({ ids, body, transact }) => {
        const { url, subscriptions, name, inbox_id: inboxId, active } = body;
        const changes = given({ url, subscriptions, name, inboxId, active });
        return presentWebhook(await transact((tx) => updateWebhook(tx, ids.id ?? 0, changes)));
      },
    },
  ),
  route(
    ['POST', `${base}/:id/rotate_secret`],
    {
      reply: 'resources/webhook-with-secret',
      role: 'administrator',
      description: 'For 24 hours deliveries are signed with the new secret and with the one before.',
    },
    async ({ services, ids, transact }) => {
      const secret = newWebhookSecret(services.random);
      const sealed = services.secretBox.seal(secret);
      return { ...presentWebhook(await transact((tx) => rotateWebhookSecret(tx, ids.id ?? 0, sealed))), secret };
    },
  ),
  route(['DELETE', `${base}/:id`], { reply: 'resources/empty', role: 'administrator' }, async ({ ids, transact }) => {
    await transact((tx) => deleteWebhook(tx, ids.id ?? 0));
    return {};
  }),
];
