import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  readWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from '../../../domain/webhooks.ts';
import { sealAuth, sealHeaders } from '../../../deliveries/core/check-credentials.ts';
import { pause, resume } from '../../../domain/endpoints/requested-deliveries.ts';
import { mask } from '../../../deliveries/core/credentials.ts';
import { checkedFilter } from '../../../deliveries/core/event-filter.ts';
import type { Webhook } from '../../../records/webhook.ts';
import { invalid } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { OutsideServices, Services } from '../../../http/route/call.ts';
import { withoutUndefined } from '../../../lib/without-undefined.ts';
import { presentPage } from '../../page.ts';
import { newWebhookSecret } from '../../../lib/secrets/secret-box.ts';
import { unixSeconds, unixSecondsOrNull } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';
import { presentCircuit } from './circuit.ts';
import { secretRoutes } from './secrets.ts';
import { shareRoutes } from './shares.ts';
import { pauseDescription, resumeDescription } from './endpoint-verbs.ts';

const base = '/api/v1/accounts/:account_id/webhooks';

function presentWebhook(webhook: Webhook): Shape<'resources/webhook'> {
  return {
    id: webhook.id,
    account_id: webhook.accountId,
    url: webhook.url,
    name: webhook.name ?? null,
    subscriptions: webhook.subscriptions,
    format: webhook.format,
    active: webhook.active,
    disabled_reason: webhook.disabledReason ?? null,
    circuit: presentCircuit(webhook),
    paused: Boolean(webhook.pausedAt),
    paused_at: unixSecondsOrNull(webhook.pausedAt ?? null),
    inbox_id: webhook.inboxId ?? null,
    filter: webhook.filter ?? null,
    max_per_second: webhook.maxPerSecond ?? null,
    headers: webhook.headers.map(({ name }) => ({ name, value: mask })),
    auth_type: webhook.auth?.type ?? null,
    created_at: unixSeconds(webhook.createdAt),
    updated_at: unixSeconds(webhook.updatedAt),
  };
}

async function checkUrl({ outbound }: OutsideServices, url: string): Promise<void> {
  const problem = await outbound.checkUrl(url, { httpsOnly: false });
  if (problem) throw invalid('/url', problem.rule, problem.message);
}

function readCredentials({ secretBox }: Services, { headers, auth }: Shape<'requests/webhook.update'>, now: Date) {
  return withoutUndefined({
    headers: headers && sealHeaders(secretBox, headers),
    auth: auth && sealAuth(secretBox, auth, now),
  });
}

export const webhookRoutes = [
  doors.account(
    ['GET', base, 'List webhooks'],
    { query: 'requests/page.query', reply: 'resources/webhook-list', paged: true, role: 'administrator' },
    async ({ sql, account, query: { page = 1 } }) =>
      presentPage(await listWebhooks(sql, account.id, page), presentWebhook),
  ),
  doors.account(
    ['POST', base, 'Create a webhook'],
    {
      body: 'requests/webhook.create',
      largeBody: true,
      reply: 'resources/created-webhook',
      role: 'administrator',
      status: 201,
    },
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
            filter: checkedFilter(body.filter ?? null),
            maxPerSecond: body.max_per_second ?? null,
            ...readCredentials(services, body, tx.now),
            active: body.active ?? true,
            format: body.format ?? 'default',
            sealedSecret: services.secretBox.seal(secret),
          }),
        );
        const record = { ...presentWebhook(webhook), secret };
        return { ...record, payload: { webhook: record } };
      },
    },
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get a webhook'],
    { reply: 'resources/webhook', record: true, role: 'administrator' },
    async ({ sql, account, params }) => presentWebhook(await readWebhook(sql, account.id, params.id)),
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update a webhook'],
    { body: 'requests/webhook.update', largeBody: true, reply: 'resources/webhook', role: 'administrator' },
    {
      prepare: async ({ services, body: { url } }) => {
        if (url !== undefined) await checkUrl(services, url);
      },
      handle: async ({ services, params, body, transact }) => {
        const { url, subscriptions, name, inbox_id: inboxId, max_per_second: maxPerSecond, active, format } = body;
        const filter = body.filter && checkedFilter(body.filter);
        const changes = withoutUndefined({ url, subscriptions, name, inboxId, filter, maxPerSecond, active, format });
        const webhook = await transact((tx) =>
          updateWebhook(tx, params.id, { ...changes, ...readCredentials(services, body, tx.now) }),
        );
        return presentWebhook(webhook);
      },
    },
  ),
  doors.account(
    ['POST', `${base}/:id/rotate_secret`, 'Rotate the secret of a webhook'],
    {
      body: 'requests/webhook.rotate_secret',
      reply: 'resources/webhook-with-secret',
      role: 'administrator',
      audit: { action: 'secret.rotated' },
      errors: [409],
      description:
        'Deliveries are signed with the new secret and, for 24 hours or `overlap_seconds`, with the one before. Refused (409) when ten secrets sign already.',
    },
    async ({ services, params, body: { overlap_seconds: overlapSeconds }, transact }) => {
      const secret = newWebhookSecret(services.random);
      const rotation = { sealedSecret: services.secretBox.seal(secret), overlapSeconds };
      return { ...presentWebhook(await transact((tx) => rotateWebhookSecret(tx, params.id, rotation))), secret };
    },
  ),
  ...secretRoutes,
  ...shareRoutes,
  doors.account(
    ['POST', `${base}/:id/pause`, 'Pause a webhook'],
    {
      reply: 'resources/webhook',
      role: 'administrator',
      audit: { action: 'webhook.paused' },
      description: pauseDescription,
    },
    async ({ params: { id }, transact }) =>
      presentWebhook(await transact((tx) => pause(tx, { kind: 'webhook' as const, id }))),
  ),
  doors.account(
    ['POST', `${base}/:id/resume`, 'Resume a webhook'],
    {
      reply: 'resources/webhook',
      role: 'administrator',
      audit: { action: 'webhook.resumed' },
      description: resumeDescription,
    },
    async ({ params: { id }, transact }) =>
      presentWebhook(await transact((tx) => resume(tx, { kind: 'webhook' as const, id }))),
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete a webhook'],
    { reply: 'resources/empty', role: 'administrator' },
    ({ params, transact }) => transact((tx) => deleteWebhook(tx, params.id)),
  ),
];
