import type { EntityManager } from '@mikro-orm/postgresql';
import { createPluginBot, createWebhookBot, withSecrets, type AgentBotChanges } from '../../domain/bots/bots.ts';
import { findPlugin, holdPlugin } from '../../domain/plugins/rows.ts';
import type { OuterTransaction } from '../../events/transaction.ts';
import type { AgentBot } from '../../records/agent-bot.ts';
import type { ApiError } from '../../errors.ts';
import { invalid } from '../../errors.ts';
import type { OutsideServices, Services } from '../../http/route/call.ts';
import { given } from '../given.ts';
import { newWebhookSecret } from '../../lib/secret-box.ts';
import { unixSeconds, unixSecondsOrNull } from '../../lib/unix-time.ts';
import { hearingOf } from '../../packages/hearing.ts';
import type { Manifest } from '../../packages/manifest.ts';
import type { Shape } from '../../schemas.ts';
import { readSettings } from './bot-settings.ts';
import { aiPluginId, aiSettingsOf, isAiBot, presentAiFields } from './ai-bots.ts';
import { presentHealth } from './health.ts';
import { presentCircuit } from './circuit.ts';

/** The description of the two operations that release a bot. */
export const releaseDescription =
  'Ends a quarantine: the bot is called again, and what failed before counts no more. After 5 failed runs without a good one a bot inside the service is not called for 5 minutes, then for 30 minutes, then for 4 hours, then until it is released.';

/** A bot in REST answers to its owner: its account, or the platform for a system bot. */
export function presentOwnBot(bot: AgentBot): Shape<'resources/agent-bot'> {
  return {
    id: bot.id,
    account_id: bot.accountId ?? null,
    name: bot.name,
    description: bot.description ?? null,
    kind: isAiBot(bot) ? 'ai' : bot.kind,
    avatar_url: bot.avatarUrl ?? null,
    ...presentServer(bot),
    plugin_id: bot.pluginId ?? null,
    config: bot.config,
    events: bot.events,
    hear_own: bot.hearsOwn,
    disabled_reason: disabledReasonOf(bot),
    paused: Boolean(bot.pausedAt),
    system: (bot.accountId ?? null) === null,
    quarantine: presentQuarantine(bot),
    secret_names: Object.keys(bot.secrets).sort(),
    health: presentHealth(bot),
    tokens_per_day: bot.tokensPerDay ?? null,
    ...presentAiFields(bot),
    token_last_used_at: unixSecondsOrNull(bot.tokenLastUsedAt ?? null),
    created_at: unixSeconds(bot.createdAt),
    updated_at: unixSeconds(bot.updatedAt),
  };
}

function presentServer(bot: AgentBot) {
  const { outgoingUrl = null } = bot;
  return { outgoing_url: outgoingUrl, circuit: outgoingUrl === null ? null : presentCircuit(bot) };
}

/** A bot in REST answers to an account, which does not see the URL and the config of system bots. */
export function presentAgentBot(bot: AgentBot): Shape<'resources/agent-bot'> {
  const record = presentOwnBot(bot);
  if (!record.system) return record;
  const hidden = { outgoing_url: null, config: {}, secret_names: [], token_last_used_at: null, tokens_per_day: null };
  return { ...record, ...hidden, ...presentAiFields(null), health: { ...record.health, last_error: null } };
}

/** Checks the URL of a bot's server. Errors: 422 for a URL that may not be called. */
export async function checkOutgoingUrl({ outbound }: OutsideServices, url: string | undefined): Promise<void> {
  if (url === undefined) return;
  const problem = await outbound.checkUrl(url, { httpsOnly: true });
  if (problem) throw invalid('/outgoing_url', problem.rule, problem.message);
}

type Draft = (tx: OuterTransaction) => Promise<AgentBot>;

/**
 * Reads a new bot from the body: a function that creates it, in an account or as system bot, and the signing secret of a
 * bot with a server. The URL has been checked. Errors: 422 for an unknown plugin, for a config that it refuses, and for
 * fields that bots of the kind do not have.
 */
export async function draftBot(
  { services, em }: { services: Services; em: EntityManager },
  body: Shape<'requests/agent-bot.create'>,
): Promise<{ create: Draft; secret?: string }> {
  const { kind = 'webhook' } = body;
  return kind === 'webhook' ? draftWebhookBot(services, body) : draftPluginBot(services, em, body);
}

async function draftPluginBot(services: Services, em: EntityManager, body: Shape<'requests/agent-bot.create'>) {
  refuseHearing(body);
  const { outgoing_url: outgoingUrl } = body;
  const isAi = body.kind === 'ai';
  const manifest = await findManifest(em, isAi ? aiPluginId : (body.plugin_id ?? ''), isAi ? '/kind' : '/plugin_id');
  const aiSettings = aiSettingsOf(body, manifest.id === aiPluginId);
  if (outgoingUrl !== undefined) checkForwards(manifest);
  const { secretBox } = services;
  const settings = { config: { ...body.config, ...aiSettings }, secrets: body.secrets, stored: {} };
  const { config = {}, secrets } = readSettings({ secretBox, manifest, ...settings });
  const plugin = {
    pluginId: manifest.id,
    config,
    secrets: withSecrets({}, secrets),
    hearing: hearingOf(manifest),
    tokensPerDay: body.tokens_per_day ?? null,
  };
  const secret = newWebhookSecret(services.random);
  const server = outgoingUrl === undefined ? {} : { server: { outgoingUrl, sealedSecret: secretBox.seal(secret) } };
  return {
    create: async (tx: OuterTransaction) => {
      if (!(await holdPlugin(tx.em, manifest.id))) throw notInstalled('/plugin_id', manifest.id);
      return createPluginBot(tx.em, { ...commonOf(body), accountId: tx.accountId, ...plugin, ...server }, tx.now);
    },
    ...(outgoingUrl === undefined ? {} : { secret }),
  };
}

function draftWebhookBot(services: Services, body: Shape<'requests/agent-bot.create'>) {
  if (body.secrets) throw noSecrets();
  if (body.tokens_per_day !== undefined) throw noTokens();
  aiSettingsOf(body, false);
  const { outgoing_url: outgoingUrl = '', events, hear_own: hearsOwn } = body;
  const secret = newWebhookSecret(services.random);
  const server = { outgoingUrl, sealedSecret: services.secretBox.seal(secret), ...given({ events, hearsOwn }) };
  return {
    create: (tx: OuterTransaction) =>
      createWebhookBot(tx.em, { ...commonOf(body), accountId: tx.accountId, ...server }, tx.now),
    secret,
  };
}

function commonOf({ name, description = null, avatar_url: avatarUrl = null }: Shape<'requests/agent-bot.create'>) {
  return { name, description, avatarUrl };
}

/** Reads the changes of a bot from the body. Errors: 422 as for draftBot. */
export async function readChanges(
  { services, em }: { services: Services; em: EntityManager },
  bot: AgentBot,
  body: Shape<'requests/agent-bot.update'>,
): Promise<AgentBotChanges> {
  const { name, description, avatar_url: avatarUrl, outgoing_url: outgoingUrl, tokens_per_day: tokensPerDay } = body;
  const common = { name, description, avatarUrl, outgoingUrl, tokensPerDay };
  const { config, secrets, events, hear_own: hearsOwn } = body;
  const aiSettings = aiSettingsOf(body, isAiBot(bot));
  if (bot.kind !== 'plugin') {
    if (secrets) throw noSecrets();
    if (tokensPerDay !== undefined) throw noTokens();
    return given({ ...common, config, events, hearsOwn });
  }
  refuseHearing(body);
  const path = ['config', 'secrets', 'outgoing_url'].find((field) => Object.hasOwn(body, field));
  if (path === undefined && !aiSettings) return given(common);
  const manifest = await findManifest(em, bot.pluginId ?? '', `/${path ?? ''}`);
  if (outgoingUrl !== undefined) checkForwards(manifest);
  const { secretBox, random } = services;
  const firstSecret = outgoingUrl === undefined ? undefined : secretBox.seal(newWebhookSecret(random));
  return given({ ...common, ...readSettingsOf(bot, body, { secretBox, manifest, aiSettings }), firstSecret });
}

function readSettingsOf(
  bot: AgentBot,
  { config, secrets }: Shape<'requests/agent-bot.update'>,
  { aiSettings, ...port }: Pick<Services, 'secretBox'> & { manifest: Manifest; aiSettings: object | undefined },
): Pick<AgentBotChanges, 'config' | 'settings' | 'secrets'> {
  const whole = config || aiSettings ? { ...(config ?? bot.config), ...aiSettings } : undefined;
  if (!whole && !secrets) return {};
  const read = readSettings({ ...port, config: whole, secrets, stored: bot.secrets });
  if (config || !aiSettings) return read;
  // Merged under the lock of the row: another change may be under way.
  return { secrets: read.secrets, settings: { ...aiSettings } };
}

function refuseHearing(body: object): void {
  const field = ['events', 'hear_own'].find((name) => Object.hasOwn(body, name));
  const sentence = 'Only bots of the kind webhook choose what they are told of: the manifest says it for a plugin';
  if (field !== undefined) throw invalid(`/${field}`, 'kind', sentence);
}

function checkForwards({ id, permissions }: Manifest): void {
  const sentence = `Only bots of the kind webhook, and of plugins that forward, have an outgoing_url; \`${id}\` does not`;
  if (!permissions.forward) throw invalid('/outgoing_url', 'kind', sentence);
}

function noTokens(): ApiError {
  return invalid('/tokens_per_day', 'kind', 'Only bots inside the service ask language models');
}

function noSecrets(): ApiError {
  return invalid('/secrets', 'kind', 'Only bots of the kind plugin have secrets');
}

function disabledReasonOf({ disabledReason, pluginObstacle, configFits }: AgentBot): string | null {
  return disabledReason ?? pluginObstacle ?? (configFits ? null : 'config_invalid');
}

function presentQuarantine({ quarantinedAt, quarantinedUntil, quarantineReason }: AgentBot) {
  if (!quarantinedAt) return null;
  const until = unixSecondsOrNull(quarantinedUntil ?? null);
  return { reason: quarantineReason ?? '', since: unixSeconds(quarantinedAt), until };
}

async function findManifest(em: EntityManager, pluginId: string, path: string): Promise<Manifest> {
  const plugin = await findPlugin(em, pluginId);
  if (!plugin?.active || !plugin.isPresent) throw notInstalled(path, pluginId);
  if (!plugin.enabled) throw invalid(path, 'enabled', `The plugin \`${pluginId}\` is disabled`);
  return plugin.active.manifest;
}

function notInstalled(path: string, pluginId: string): ApiError {
  return invalid(path, 'installed', `There is no installed plugin \`${pluginId}\``);
}
