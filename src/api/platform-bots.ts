import type { EntityManager } from '@mikro-orm/postgresql';
import {
  agentBotsPerPage,
  grantBotToken,
  listAgentBots,
  readAgentBot,
  resetBotSecret,
  resetBotToken,
  updateAgentBot,
  type BotScope,
} from '../domain/agent-bots.ts';
import { removeSystemBot } from '../domain/platform.ts';
import { route, type Services } from '../http/route.ts';
import { pageMeta } from '../lib/page.ts';
import { newWebhookSecret } from '../lib/secret-box.ts';
import { newToken } from '../lib/tokens.ts';
import { draftBot, presentOwnBot, readChanges } from './agent-bot-records.ts';
import { transactOutsideAccounts } from '../events/transaction.ts';

const base = '/platform/api/v1/agent_bots';

function inSystem<Result>(
  { services, em }: { services: Services; em: EntityManager },
  work: (scope: BotScope) => Promise<Result>,
): Promise<Result> {
  const now = services.database.clock.now();
  return transactOutsideAccounts(em, (inner) => work({ em: inner, account: { id: null }, now }));
}

export const platformBotRoutes = [
  route(
    ['GET', base],
    { query: 'requests/page.query', reply: 'resources/agent-bot-list', role: 'platform' },
    async ({ em, query: { page = 1 } }) => {
      const [bots, count] = await listAgentBots(em, null, page);
      return { payload: bots.map(presentOwnBot), meta: pageMeta(count, page, agentBotsPerPage) };
    },
  ),
  route(['GET', `${base}/:id`], { reply: 'resources/agent-bot', role: 'platform' }, async ({ em, ids }) =>
    presentOwnBot(await readAgentBot(em, null, ids.id ?? 0)),
  ),
  route(
    ['POST', base],
    {
      body: 'requests/agent-bot.create',
      reply: 'resources/agent-bot-with-secrets',
      role: 'platform',
      status: 201,
      description: 'A system bot, for every account to use. Access token and secret are in this answer only.',
    },
    async ({ services, em, body }) => {
      const { create, secret } = await draftBot(services, body);
      const token = newToken('bot', services.random);
      const bot = await inSystem({ services, em }, async (scope) => {
        const created = await create(scope);
        await grantBotToken(scope.em, created.id, token, scope.now);
        return created;
      });
      return { ...presentOwnBot(bot), access_token: token, ...(secret === undefined ? {} : { secret }) };
    },
  ),
  route(
    ['PATCH', `${base}/:id`],
    { body: 'requests/agent-bot.update', reply: 'resources/agent-bot', role: 'platform' },
    async ({ services, em, ids, body }) => {
      const bot = await readAgentBot(em, null, ids.id ?? 0);
      const changes = await readChanges(services, bot, body);
      return presentOwnBot(await inSystem({ services, em }, (scope) => updateAgentBot(scope, bot.id, changes)));
    },
  ),
  route(
    ['POST', `${base}/:id/reset_access_token`],
    { reply: 'resources/agent-bot-with-secrets', role: 'platform' },
    async ({ services, em, ids }) => {
      const token = newToken('bot', services.random);
      const bot = await inSystem({ services, em }, (scope) => resetBotToken(scope, ids.id ?? 0, token));
      return { ...presentOwnBot(bot), access_token: token };
    },
  ),
  route(
    ['POST', `${base}/:id/reset_secret`],
    { reply: 'resources/agent-bot-with-secrets', role: 'platform' },
    async ({ services, em, ids }) => {
      const secret = newWebhookSecret(services.random);
      const sealed = services.secretBox.seal(secret);
      const bot = await inSystem({ services, em }, (scope) => resetBotSecret(scope, ids.id ?? 0, sealed));
      return { ...presentOwnBot(bot), secret };
    },
  ),
  route(
    ['DELETE', `${base}/:id`],
    {
      reply: 'resources/empty',
      role: 'platform',
      description: 'It serves no account any more; its messages stay without their author.',
    },
    async ({ services, em, ids, transactIn }) => {
      await removeSystemBot(transactIn, em, { id: ids.id ?? 0, now: services.database.clock.now() });
      return {};
    },
  ),
];
