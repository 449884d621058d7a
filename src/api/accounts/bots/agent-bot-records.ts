import {
  createPluginBot,
  createWebhookBot,
  lockOwnBot,
  updateAgentBot,
  withSecrets,
  type AgentBotChanges,
} from '../../../domain/bots/bots.ts';
import { holdPlugin } from '../../../domain/plugins/rows.ts';
import type { OuterTransaction } from '../../../events/transaction.ts';
import type { AgentBot } from '../../../records/bots/agent-bot.ts';
import type { ApiError } from '../../../errors.ts';
import { invalid } from '../../../errors.ts';
import type { OutsideServices, Services } from '../../../http/route/call.ts';
import { given } from '../../given.ts';
import { newWebhookSecret } from '../../../lib/secrets/secret-box.ts';
import { unixSeconds, unixSecondsOrNull } from '../../../lib/unix-time.ts';
import { hearingOf } from '../../../packages/manifest/heard-events.ts';
import type { Manifest } from '../../../packages/manifest/manifest.ts';
import type { Shape } from '../../../schemas.ts';
import { readSettings } from './bot-settings.ts';
import { aiPluginId, aiSettingsOf, isAiBot, presentAiFields } from './ai-bots.ts';
import { presentHealth } from '../deliveries/health.ts';
import { presentCircuit } from '../deliveries/circuit.ts';

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
  return { outgoing_url: outgoingUrl, format: bot.format, circuit: outgoingUrl === null ? null : presentCircuit(bot) };
}

/**
 * A bot in REST answers to an account, which does not see the URL and the config of system bots. `healthError`: why it cannot
 * answer as it is meant to, if that is not what its row says.
 */
export function presentAgentBot(bot: AgentBot, healthError = bot.healthError ?? null): Shape<'resources/agent-bot'> {
  const record = { ...presentOwnBot(bot), health: presentHealth(bot, healthError) };
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

/** A new bot, and its signing secret if it has a server. */
interface Made {
  bot: AgentBot;
  secret?: string;
}

interface Changing {
  /** What makes secrets and seals them. */
  services: Pick<Services, 'secretBox' | 'random'>;
  tx: OuterTransaction;
}

/**
 * Creates a bot from the body, in the account of the transaction or as system bot. The URL has been checked. Errors: 422 for
 * an unknown plugin, for a config that it refuses, and for fields that bots of the kind do not have.
 */
export async function createBot(changing: Changing, body: Shape<'requests/agent-bot.create'>): Promise<Made> {
  const { kind = 'webhook' } = body;
  return kind === 'webhook' ? makeWebhookBot(changing, body) : makePluginBot(changing, body);
}

async function makePluginBot({ services, tx }: Changing, body: Shape<'requests/agent-bot.create'>): Promise<Made> {
  refuseHearing(body);
  const { outgoing_url: outgoingUrl } = body;
  const isAi = body.kind === 'ai';
  const manifest = await holdManifest(tx, isAi ? aiPluginId : (body.plugin_id ?? ''), isAi ? '/kind' : '/plugin_id');
  const aiSettings = aiSettingsOf(body, manifest.id === aiPluginId);
  if (outgoingUrl !== undefined) checkForwards(manifest, '/outgoing_url');
  if (body.format !== undefined) checkForwards(manifest, '/format');
  const { secretBox } = services;
  const settings = { config: { ...body.config, ...aiSettings }, secrets: body.secrets, stored: {} };
  const { config = {}, secrets } = readSettings({ secretBox, manifest, ...settings });
  const secret = outgoingUrl === undefined ? undefined : newWebhookSecret(services.random);
  const plugin = {
    pluginId: manifest.id,
    config,
    secrets: withSecrets({}, secrets),
    hearing: hearingOf(manifest),
    tokensPerDay: body.tokens_per_day ?? null,
    ...(outgoingUrl === undefined || secret === undefined
      ? {}
      : { server: { outgoingUrl, sealedSecret: secretBox.seal(secret), ...given({ format: body.format }) } }),
  };
  const bot = await createPluginBot(tx.sql, { ...commonOf(body), accountId: tx.accountId, ...plugin }, tx.now);
  return { bot, ...given({ secret }) };
}

async function makeWebhookBot({ services, tx }: Changing, body: Shape<'requests/agent-bot.create'>): Promise<Made> {
  if (body.secrets) throw noSecrets();
  if (body.tokens_per_day !== undefined) throw noTokens();
  aiSettingsOf(body, false);
  const { outgoing_url: outgoingUrl = '', format, events, hear_own: hearsOwn } = body;
  const secret = newWebhookSecret(services.random);
  const server = { outgoingUrl, sealedSecret: services.secretBox.seal(secret), ...given({ format, events, hearsOwn }) };
  const bot = await createWebhookBot(tx.sql, { ...commonOf(body), accountId: tx.accountId, ...server }, tx.now);
  return { bot, secret };
}

function commonOf({ name, description = null, avatar_url: avatarUrl = null }: Shape<'requests/agent-bot.create'>) {
  return { name, description, avatarUrl };
}

/** Changes a bot of the account as the body says. Errors: 422 as for createBot; 404, 403 for a system bot. */
export async function changeBot(
  changing: Changing,
  bot: AgentBot,
  body: Shape<'requests/agent-bot.update'>,
): Promise<AgentBot> {
  return updateAgentBot(changing.tx, bot.id, await readChanges(changing, bot, body));
}

async function readChanges(
  { services, tx }: Changing,
  bot: AgentBot,
  body: Shape<'requests/agent-bot.update'>,
): Promise<AgentBotChanges> {
  const { name, description, avatar_url: avatarUrl, outgoing_url: outgoingUrl, tokens_per_day: tokensPerDay } = body;
  const common = { name, description, avatarUrl, outgoingUrl, format: body.format, tokensPerDay };
  const { config, secrets, events, hear_own: hearsOwn } = body;
  const aiSettings = aiSettingsOf(body, isAiBot(bot));
  if (bot.kind !== 'plugin') {
    if (secrets) throw noSecrets();
    if (tokensPerDay !== undefined) throw noTokens();
    return given({ ...common, config, events, hearsOwn });
  }
  refuseHearing(body);
  const path = ['config', 'secrets', 'outgoing_url', 'format'].find((field) => Object.hasOwn(body, field));
  if (path === undefined && !aiSettings) return given(common);
  return given({ ...common, ...(await readJudged({ services, tx }, bot, { body, path, aiSettings })) });
}

/** What the plugin's version judges. */
async function readJudged(
  { services: { secretBox, random }, tx }: Changing,
  bot: AgentBot,
  {
    body,
    path = '',
    aiSettings,
  }: { body: Shape<'requests/agent-bot.update'>; path?: string | undefined; aiSettings: object | undefined },
): Promise<AgentBotChanges> {
  const { config, secrets, outgoing_url: outgoingUrl } = body;
  const manifest = await holdManifest(tx, bot.pluginId ?? '', `/${path}`);
  if (outgoingUrl !== undefined) checkForwards(manifest, '/outgoing_url');
  if (body.format !== undefined) checkForwards(manifest, '/format');
  // Behind the plugin, as its versions change bots: what is merged and judged is what the change replaces.
  const present = await lockOwnBot(tx.sql, tx.accountId, bot.id);
  const whole = config || aiSettings ? { ...(config ?? present.config), ...aiSettings } : undefined;
  const settings = readSettings({ secretBox, manifest, config: whole, secrets, stored: present.secrets });
  const firstSecret = outgoingUrl === undefined ? undefined : secretBox.seal(newWebhookSecret(random));
  return given({ ...(whole || secrets ? settings : {}), firstSecret });
}

function refuseHearing(body: object): void {
  const field = ['events', 'hear_own'].find((name) => Object.hasOwn(body, name));
  const sentence = 'Only bots of the kind webhook choose what they are told of: the manifest says it for a plugin';
  if (field !== undefined) throw invalid(`/${field}`, 'kind', sentence);
}

function checkForwards({ id, permissions }: Manifest, path: '/outgoing_url' | '/format'): void {
  const field = { '/outgoing_url': 'an outgoing_url', '/format': 'a format' }[path];
  const sentence = `Only bots of the kind webhook, and of plugins that forward, have ${field}; \`${id}\` does not`;
  if (!permissions.forward) throw invalid(path, 'kind', sentence);
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

// Settings are judged by the version that runs when they are stored: until then it stays.
async function holdManifest({ sql }: OuterTransaction, pluginId: string, path: string): Promise<Manifest> {
  const plugin = await holdPlugin(sql, pluginId);
  if (!plugin?.active || !plugin.isPresent) throw notInstalled(path, pluginId);
  if (!plugin.enabled) throw invalid(path, 'enabled', `The plugin \`${pluginId}\` is disabled`);
  return plugin.active.manifest;
}

function notInstalled(path: string, pluginId: string): ApiError {
  return invalid(path, 'installed', `There is no installed plugin \`${pluginId}\``);
}
