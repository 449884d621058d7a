import { defineEntity, p } from '@mikro-orm/core';
import type { OlderSecret } from '../../deliveries/core/signing-secrets.ts';
import type { BodyFormat } from '../../deliveries/core/endpoint.ts';

const AgentBotSchema = defineEntity({
  name: 'AgentBot',
  tableName: 'agent_bots',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number').nullable(),
    name: p.text(),
    description: p.text().nullable(),
    kind: p.text().$type<'webhook' | 'plugin' | 'automation' | 'channel'>(),
    inboxIds: p.array(Number).columnType('bigint[]').nullable(),
    active: p.boolean().default(true),
    /** Hash of the setting or secret that no two channels of a plugin share. */
    channelKey: p.blob().nullable(),
    avatarUrl: p.text().nullable(),
    outgoingUrl: p.text().nullable(),
    format: p.text().$type<BodyFormat>().default('default'),
    secret: p.text().nullable(),
    secretId: p.bigint('number').defaultRaw(`nextval('signing_secret_ids'::regclass)`),
    secretCreatedAt: p.datetime().defaultRaw('now()'),
    olderSecrets: p.json<OlderSecret[]>().defaultRaw(`'[]'`),
    pluginId: p.text().nullable(),
    config: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
    secrets: p.json<Record<string, string>>().defaultRaw(`'{}'`),
    events: p.array().columnType('text[]').$type<string[]>(),
    hearsOwn: p.boolean().default(true),
    hearsNotes: p.boolean().default(true),
    pluginObstacle: p.text().$type<'plugin_missing' | 'plugin_disabled'>().nullable(),
    configFits: p.boolean().default(true),
    disabledReason: p.text().nullable(),
    isProven: p.boolean().default(false),
    consecutiveFailures: p.integer().default(0),
    unansweredAttempts: p.integer().default(0),
    failingSince: p.datetime().nullable(),
    circuitTrips: p.integer().default(0),
    circuitProbeAt: p.datetime().nullable(),
    pausedAt: p.datetime().nullable(),
    pauseToldAt: p.datetime().nullable(),
    resumedAt: p.datetime().nullable(),
    failedRuns: p.integer().default(0),
    failedAccountId: p.bigint('number').nullable(),
    quarantines: p.integer().default(0),
    quarantinedAt: p.datetime().nullable(),
    quarantinedUntil: p.datetime().nullable(),
    quarantineReason: p.text().nullable(),
    tokenLastUsedAt: p.datetime().nullable(),
    tokensPerDay: p.bigint('number').nullable(),
    healthError: p.text().nullable(),
    healthSince: p.datetime().nullable(),
    checkError: p.text().nullable(),
    checkedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/**
 * A bot that can serve conversations; or an automation or a channel, which serve none; a system bot has no account. `events` are the names of the events it receives,
 * `hearsOwn` whether outgoing messages are among them, `hearsNotes` whether private notes are. `pluginObstacle` is why
 * its plugin cannot run; `configFits` is false while the version that runs refuses its settings. `failedRuns` counts failed runs since the last successful one: see domain/bots/quarantine.ts.
 * Secrets are sealed by the secret box.
 */
export class AgentBot extends AgentBotSchema.class {
  static readonly noun = 'Agent bot';
}
AgentBotSchema.setClass(AgentBot);
