import { defineEntity, p } from '@mikro-orm/core';
import type { OlderSecret } from '../deliveries/core/signing-secrets.ts';
import type { SealedAuth, SealedHeader } from '../deliveries/core/credentials.ts';
import type { BodyFormat } from '../deliveries/core/endpoint.ts';
import type { CancelledBy } from '../deliveries/core/refusal.ts';
import type { EventFilter } from '../deliveries/core/event-filter.ts';
const WebhookSchema = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    inboxId: p.bigint('number').nullable(),
    url: p.text(),
    name: p.text().nullable(),
    format: p.text().$type<BodyFormat>().default('default'),
    subscriptions: p.array().columnType('text[]').$type<string[]>(),
    filter: p.json().$type<EventFilter | null>().nullable(),
    maxPerSecond: p.integer().nullable(),
    headers: p.json<SealedHeader[]>().defaultRaw(`'[]'`),
    auth: p.json<SealedAuth | null>().nullable(),
    active: p.boolean().default(true),
    disabledReason: p.text().nullable(),
    disabledBy: p.json<CancelledBy>().nullable(),
    secret: p.text(),
    secretId: p.bigint('number').defaultRaw(`nextval('signing_secret_ids'::regclass)`),
    secretCreatedAt: p.datetime().defaultRaw('now()'),
    olderSecrets: p.json<OlderSecret[]>().defaultRaw(`'[]'`),
    isProven: p.boolean().default(false),
    consecutiveFailures: p.integer().default(0),
    unansweredAttempts: p.integer().default(0),
    failingSince: p.datetime().nullable(),
    failingToldAt: p.datetime().nullable(),
    circuitTrips: p.integer().default(0),
    circuitProbeAt: p.datetime().nullable(),
    pausedAt: p.datetime().nullable(),
    pauseToldAt: p.datetime().nullable(),
    resumedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/** A subscription of a URL to an account's events. Secrets are sealed by the secret box. */
export class Webhook extends WebhookSchema.class {
  static readonly noun = 'Webhook';
}
WebhookSchema.setClass(Webhook);
