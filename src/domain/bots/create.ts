import type { AgentBot } from '../../records/bots/agent-bot.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { newWebhookSecret } from '../../lib/secrets/secret-box.ts';
import { hearingOf } from '../../packages/manifest/heard-events.ts';
import type { Shape } from '../../schemas.ts';
import { aiPluginId } from '../../deliveries/core/endpoint.ts';
import { aiSettingsOf } from './ai-settings.ts';
import { createPluginBot, createWebhookBot, withSecrets } from './bots.ts';
import {
  checkForwards,
  holdManifest,
  noSecrets,
  noTokens,
  refuseHearing,
  type BotChange,
  urlOf,
} from './kind-rules.ts';
import { readSettings } from './settings.ts';
import { checkTools } from './tools/checks.ts';

/** A new bot, and its signing secret if it has a server. */
interface Made {
  bot: AgentBot;
  secret?: string;
}

/**
 * Creates a bot from the body, in the account of the transaction or as system bot. The URL has been checked. Errors: 422 for
 * an unknown plugin, for a config that it refuses, and for fields that bots of the kind do not have.
 */
export async function createBot(change: BotChange, body: Shape<'requests/agent-bot.create'>): Promise<Made> {
  const { kind = 'webhook' } = body;
  return kind === 'webhook' ? makeWebhookBot(change, body) : makePluginBot(change, body);
}

async function makePluginBot({ services, tx }: BotChange, body: Shape<'requests/agent-bot.create'>): Promise<Made> {
  refuseHearing(body);
  const outgoingUrl = urlOf(body);
  const isAi = body.kind === 'ai';
  const named = isAi ? { pluginId: aiPluginId, path: '/kind' } : { pluginId: body.plugin_id ?? '', path: '/plugin_id' };
  const manifest = await holdManifest(tx, { ...named, part: 'bot' });
  const aiSettings = aiSettingsOf(body, manifest.id === aiPluginId);
  if (outgoingUrl !== undefined) checkForwards(manifest, '/outgoing_url');
  if (body.format !== undefined) checkForwards(manifest, '/format');
  const { secretBox } = services;
  const settings = { config: withoutUndefined({ ...body.config, ...aiSettings }), secrets: body.secrets, stored: {} };
  const { config: read = {}, secrets } = readSettings({ secretBox, manifest, ...settings });
  const config = await checkTools(tx, manifest, { body, config: read });
  const secret = outgoingUrl === undefined ? undefined : newWebhookSecret(services.random);
  const plugin = {
    pluginId: manifest.id,
    config,
    secrets: withSecrets({}, secrets),
    hearing: hearingOf(manifest),
    tokensPerDay: body.tokens_per_day ?? null,
    ...(outgoingUrl === undefined || secret === undefined
      ? {}
      : {
          server: { outgoingUrl, sealedSecret: secretBox.seal(secret), ...withoutUndefined({ format: body.format }) },
        }),
  };
  const bot = await createPluginBot(tx.sql, { ...commonOf(body), accountId: tx.accountId, ...plugin }, tx.now);
  return { bot, ...withoutUndefined({ secret }) };
}

async function makeWebhookBot({ services, tx }: BotChange, body: Shape<'requests/agent-bot.create'>): Promise<Made> {
  if (body.secrets) throw noSecrets();
  if (body.tokens_per_day !== undefined) throw noTokens();
  aiSettingsOf(body, false);
  const { outgoing_url: outgoingUrl = null, format, events, hear_own: hearsOwn } = body;
  const secret = newWebhookSecret(services.random);
  const server = {
    outgoingUrl,
    sealedSecret: services.secretBox.seal(secret),
    ...withoutUndefined({ format, events, hearsOwn }),
  };
  const bot = await createWebhookBot(tx.sql, { ...commonOf(body), accountId: tx.accountId, ...server }, tx.now);
  return { bot, secret };
}

function commonOf({ name, description = null, avatar_url: avatarUrl = null }: Shape<'requests/agent-bot.create'>) {
  return { name, description, avatarUrl };
}
