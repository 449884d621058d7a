import {
  agentBotsPerPage,
  createPluginBot,
  createWebhookBot,
  deleteAgentBot,
  grantBotToken,
  listAgentBots,
  readAgentBot,
  readOwnAgentBot,
  resetBotSecret,
  resetBotToken,
  updateAgentBot,
  type AgentBotChanges,
} from '../domain/agent-bots.ts';
import type { AgentBot } from '../entities/agent-bot.ts';
import { ApiError, invalid } from '../errors.ts';
import type { Transaction } from '../events/transaction.ts';
import { route, type Services } from '../http/route.ts';
import { given } from '../lib/given.ts';
import { pageMeta } from '../lib/page.ts';
import { newWebhookSecret } from '../lib/secret-box.ts';
import { newToken } from '../lib/tokens.ts';
import { unixSeconds } from '../lib/unix-time.ts';
import { hearingOf } from '../runtime/hearing.ts';
import { validateConfig } from '../runtime/manifest.ts';
import type { PluginPackage } from '../runtime/registry.ts';
import type { Shape } from '../schemas.ts';

const base = '/api/v1/accounts/:account_id/agent_bots';
const pointer = /^\/\S*/;

/** A bot as the REST API answers it; whoever does not own a system bot is not told where it lives. */
export function presentAgentBot(bot: AgentBot): Shape<'resources/agent-bot'> {
  const system = (bot.accountId ?? null) === null;
  return {
    id: bot.id,
    account_id: bot.accountId ?? null,
    name: bot.name,
    description: bot.description ?? null,
    kind: bot.kind,
    avatar_url: bot.avatarUrl ?? null,
    outgoing_url: system ? null : (bot.outgoingUrl ?? null),
    plugin_id: bot.pluginId ?? null,
    config: system ? {} : bot.config,
    events: bot.events,
    system,
    created_at: unixSeconds(bot.createdAt),
    updated_at: unixSeconds(bot.updatedAt),
  };
}

function readConfig(pack: PluginPackage, settings: Record<string, unknown>): Record<string, unknown> {
  const { config, problems } = validateConfig(pack.manifest, settings);
  const details = problems.map((message) => ({
    path: `/config${pointer.exec(message)?.[0] ?? ''}`,
    rule: 'config',
    message,
  }));
  const [first] = details;
  if (first) throw new ApiError(422, 'validation_failed', first.message, { details });
  return config;
}

function findPackage({ registry }: Services, pluginId: string, path: string): PluginPackage {
  const pack = registry.get(pluginId);
  if (!pack) throw invalid(path, 'installed', `No plugin ${pluginId} is installed`);
  return pack;
}

async function checkOutgoingUrl({ outbound }: Services, url: string): Promise<void> {
  const problem = await outbound.checkUrl(url, { httpsOnly: true });
  if (problem) throw invalid('/outgoing_url', problem.rule, problem.message);
}

type Draft = (tx: Transaction) => Promise<AgentBot>;

async function draftBot(
  services: Services,
  body: Shape<'requests/agent-bot.create'>,
): Promise<{ create: Draft; secret?: string }> {
  const { name, description = null, avatar_url: avatarUrl = null } = body;
  const common = { name, description, avatarUrl };
  if (body.kind === 'plugin') {
    const pack = findPackage(services, body.plugin_id ?? '', '/plugin_id');
    const plugin = {
      pluginId: pack.id,
      config: readConfig(pack, body.config ?? {}),
      hearing: hearingOf(pack.manifest),
    };
    return {
      create: ({ em, account, now }) => createPluginBot(em, { ...common, accountId: account.id, ...plugin }, now),
    };
  }
  const { outgoing_url: outgoingUrl = '' } = body;
  await checkOutgoingUrl(services, outgoingUrl);
  const secret = newWebhookSecret(services.random);
  const server = { outgoingUrl, sealedSecret: services.secretBox.seal(secret) };
  return {
    create: ({ em, account, now }) => createWebhookBot(em, { ...common, accountId: account.id, ...server }, now),
    secret,
  };
}

async function readChanges(
  services: Services,
  bot: AgentBot,
  body: Shape<'requests/agent-bot.update'>,
): Promise<AgentBotChanges> {
  const { name, description, avatar_url: avatarUrl, outgoing_url: outgoingUrl } = body;
  if (outgoingUrl !== undefined) await checkOutgoingUrl(services, outgoingUrl);
  const settings = bot.kind === 'plugin' ? body.config : undefined;
  const pack = settings && findPackage(services, bot.pluginId ?? '', '/config');
  const config = pack && settings ? readConfig(pack, settings) : body.config;
  return given({ name, description, avatarUrl, outgoingUrl, config });
}

export const agentBotRoutes = [
  route(
    ['GET', base],
    { query: 'requests/page.query', reply: 'resources/agent-bot-list', role: 'agent' },
    async ({ em, account, query: { page = 1 } }) => {
      const [bots, count] = await listAgentBots(em, account.id, page);
      return { payload: bots.map(presentAgentBot), meta: pageMeta(count, page, agentBotsPerPage) };
    },
  ),
  route(['GET', `${base}/:id`], { reply: 'resources/agent-bot', role: 'agent' }, async ({ em, account, ids }) =>
    presentAgentBot(await readAgentBot(em, account.id, ids.id ?? 0)),
  ),
  route(
    ['POST', base],
    {
      body: 'requests/agent-bot.create',
      reply: 'resources/agent-bot-with-secrets',
      role: 'administrator',
      status: 201,
    },
    async ({ services, body, transact }) => {
      const { create, secret } = await draftBot(services, body);
      const token = newToken('bot', services.random);
      const bot = await transact(async (tx) => {
        const created = await create(tx);
        await grantBotToken(tx.em, created.id, token, tx.now);
        return created;
      });
      return { ...presentAgentBot(bot), access_token: token, ...(secret === undefined ? {} : { secret }) };
    },
  ),
  route(
    ['PATCH', `${base}/:id`],
    { body: 'requests/agent-bot.update', reply: 'resources/agent-bot', role: 'administrator' },
    async ({ services, em, account, ids, body, transact }) => {
      const bot = await readOwnAgentBot(em, account.id, ids.id ?? 0);
      const changes = await readChanges(services, bot, body);
      return presentAgentBot(await transact((tx) => updateAgentBot(tx, bot.id, changes)));
    },
  ),
  route(
    ['POST', `${base}/:id/reset_access_token`],
    { reply: 'resources/agent-bot-with-secrets', role: 'administrator' },
    async ({ services, ids, transact }) => {
      const token = newToken('bot', services.random);
      const bot = await transact((tx) => resetBotToken(tx, ids.id ?? 0, token));
      return { ...presentAgentBot(bot), access_token: token };
    },
  ),
  route(
    ['POST', `${base}/:id/reset_secret`],
    { reply: 'resources/agent-bot-with-secrets', role: 'administrator' },
    async ({ services, ids, transact }) => {
      const secret = newWebhookSecret(services.random);
      const bot = await transact((tx) => resetBotSecret(tx, ids.id ?? 0, services.secretBox.seal(secret)));
      return { ...presentAgentBot(bot), secret };
    },
  ),
  route(['DELETE', `${base}/:id`], { reply: 'resources/empty', role: 'administrator' }, async ({ ids, transact }) => {
    await deleteAgentBot(transact, ids.id ?? 0);
    return {};
  }),
];
