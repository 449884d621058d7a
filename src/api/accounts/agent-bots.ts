import {
  agentBotsPerPage,
  grantBotToken,
  listAgentBots,
  readAgentBot,
  readOwnAgentBot,
  resetBotSecret,
  resetBotToken,
  updateAgentBot,
} from '../../domain/bots/bots.ts';
import { releaseBot } from '../../domain/bots/quarantine.ts';
import { deleteAgentBot } from '../../domain/bots/removal.ts';
import { route } from '../../http/route/route.ts';
import { pageMeta } from '../page.ts';
import { newWebhookSecret } from '../../lib/secret-box.ts';
import { newToken } from '../../lib/tokens.ts';
import { checkOutgoingUrl, draftBot, presentAgentBot, readChanges, releaseDescription } from './agent-bot-records.ts';

const base = '/api/v1/accounts/:account_id/agent_bots';

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
    {
      prepare: ({ services, body }) => checkOutgoingUrl(services, body.outgoing_url),
      handle: async ({ services, body, transact }) => {
        const { create, secret } = draftBot(services, body);
        const token = newToken('bot', services.random);
        const bot = await transact(async (tx) => {
          const created = await create(tx);
          await grantBotToken(tx.em, created.id, token, tx.now);
          return created;
        });
        return { ...presentAgentBot(bot), access_token: token, ...(secret === undefined ? {} : { secret }) };
      },
    },
  ),
  route(
    ['PATCH', `${base}/:id`],
    { body: 'requests/agent-bot.update', reply: 'resources/agent-bot', role: 'administrator' },
    {
      prepare: ({ services, body }) => checkOutgoingUrl(services, body.outgoing_url),
      handle: async ({ services, em, account, ids, body, transact }) => {
        const bot = await readOwnAgentBot(em, account.id, ids.id ?? 0);
        const changes = readChanges(services, bot, body);
        return presentAgentBot(await transact((tx) => updateAgentBot(tx, bot.id, changes)));
      },
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
    {
      reply: 'resources/agent-bot-with-secrets',
      role: 'administrator',
      description: 'For 24 hours deliveries are signed with the new secret and with the one before.',
    },
    async ({ services, ids, transact }) => {
      const secret = newWebhookSecret(services.random);
      const bot = await transact((tx) => resetBotSecret(tx, ids.id ?? 0, services.secretBox.seal(secret)));
      return { ...presentAgentBot(bot), secret };
    },
  ),
  route(
    ['POST', `${base}/:id/release`],
    { reply: 'resources/agent-bot', role: 'administrator', description: releaseDescription },
    async ({ ids, transact }) => presentAgentBot(await transact((tx) => releaseBot(tx, ids.id ?? 0))),
  ),
  route(
    ['DELETE', `${base}/:id`],
    { reply: 'resources/empty', role: 'administrator', inBatches: true },
    async ({ ids, transact }) => {
      await deleteAgentBot(transact, ids.id ?? 0);
      return {};
    },
  ),
];
