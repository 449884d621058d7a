import { createWebhook, deleteWebhook } from '../domain/webhooks.ts';
import { Webhook } from '../entities/webhook.ts';
import { invalid } from '../errors.ts';
import { route } from '../http/route.ts';
import { pageMeta } from '../lib/page.ts';
import { newWebhookSecret } from '../lib/secret-box.ts';
import { unixSeconds } from '../lib/unix-time.ts';
import type { Shape } from '../schemas.ts';

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
    inbox_id: webhook.inboxId ?? null,
    created_at: unixSeconds(webhook.createdAt),
    updated_at: unixSeconds(webhook.updatedAt),
  };
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
    async ({ services, body, transact }) => {
      const problem = await services.outbound.checkUrl(body.url, { httpsOnly: false });
      if (problem) throw invalid('/url', problem.rule, problem.message);
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
  ),
  route(
    ['DELETE', `${base}/:id`],
    { reply: 'resources/empty', role: 'administrator' },
    async ({ ids, transact }) => {
      await transact((tx) => deleteWebhook(tx, ids.id ?? 0));
      return {};
    },
  ),
];
