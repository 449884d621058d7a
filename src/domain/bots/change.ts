import type { AgentBot } from '../../records/bots/agent-bot.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { newWebhookSecret } from '../../lib/secrets/secret-box.ts';
import type { Shape } from '../../schemas.ts';
import { aiSettingsOf, isAiBot } from './ai-settings.ts';
import { lockOwnBot, updateAgentBot, type AgentBotChanges } from './bots.ts';
import {
  checkForwards,
  holdManifest,
  noSecrets,
  noTokens,
  refuseHearing,
  refusePlugin,
  type BotChange,
  urlOf,
} from './kind-rules.ts';
import { readSettings } from './settings.ts';
import { checkTools } from './tools/checks.ts';

/** Changes a bot of the account as the body says. Errors: 422 as for createBot; 404, 403 for a system bot. */
export async function changeBot(
  change: BotChange,
  bot: AgentBot,
  body: Shape<'requests/agent-bot.update'>,
): Promise<AgentBot> {
  return updateAgentBot(change.tx, bot.id, await readChanges(change, bot, body));
}

async function readChanges(
  { services, tx }: BotChange,
  bot: AgentBot,
  body: Shape<'requests/agent-bot.update'>,
): Promise<AgentBotChanges> {
  refusePlugin(body);
  const { name, description, avatar_url: avatarUrl, tokens_per_day: tokensPerDay } = body;
  const outgoingUrl = urlOf(body);
  const common = { name, description, avatarUrl, outgoingUrl, format: body.format, tokensPerDay };
  const { config, secrets, events, hear_own: hearsOwn } = body;
  const aiSettings = aiSettingsOf(body, isAiBot(bot));
  if (bot.kind !== 'plugin') {
    if (secrets) throw noSecrets();
    if (tokensPerDay !== undefined) throw noTokens();
    return withoutUndefined({ ...common, config, events, hearsOwn });
  }
  refuseHearing(body);
  const path = ['config', 'secrets', 'outgoing_url', 'format'].find((field) => Object.hasOwn(body, field));
  if (path === undefined && !aiSettings) return withoutUndefined(common);
  return withoutUndefined({ ...common, ...(await readJudged({ services, tx }, bot, { body, path, aiSettings })) });
}

/** Returns the fields that the plugin's version validates. */
async function readJudged(
  { services: { secretBox, random }, tx }: BotChange,
  bot: AgentBot,
  {
    body,
    path = '',
    aiSettings,
  }: { body: Shape<'requests/agent-bot.update'>; path?: string | undefined; aiSettings: object | undefined },
): Promise<AgentBotChanges> {
  const { config, secrets } = body;
  const outgoingUrl = urlOf(body);
  const manifest = await holdManifest(tx, { pluginId: bot.pluginId ?? '', part: 'bot', path: `/${path}` });
  if (outgoingUrl !== undefined) checkForwards(manifest, '/outgoing_url');
  if (body.format !== undefined) checkForwards(manifest, '/format');
  // After the plugin, as in changes of its version, which change bots: the merged settings must be those that are replaced.
  const present = await lockOwnBot(tx.sql, tx.accountId, bot.id);
  const whole = config || aiSettings ? withoutUndefined({ ...(config ?? present.config), ...aiSettings }) : undefined;
  const settings = readSettings({
    secretBox,
    manifest,
    config: whole,
    secrets,
    stored: present.secrets,
    present: present.config,
  });
  if (settings.config) settings.config = await checkTools(tx, manifest, { body, config: settings.config });
  const firstSecret = outgoingUrl === undefined ? undefined : secretBox.seal(newWebhookSecret(random));
  return withoutUndefined({ ...(whole || secrets ? settings : {}), firstSecret });
}
