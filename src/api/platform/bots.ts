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
} from '../../domain/bots/bots.ts';
import { releaseBot } from '../../domain/bots/quarantine.ts';
import { removeSystemBot } from '../../domain/platform/accounts.ts';
import { doors } from '../../http/route/doors.ts';
import { pageMeta } from '../page.ts';
import { newWebhookSecret } from '../../lib/secret-box.ts';
import { newToken } from '../../lib/tokens.ts';
import {
  checkOutgoingUrl,
  draftBot,
  presentOwnBot,
  readChanges,
  releaseDescription,
} from '../accounts/agent-bot-records.ts';
import { transactOutsideAccounts } from '../../events/transaction.ts';

const base = '/platform/api/v1/agent_bots';

function inSystem<Result>(
  { em, now }: { em: EntityManager; now: Date },
  work: (scope: BotScope) => Promise<Result>,
): Promise<Result> {
  return transactOutsideAccounts(em, (inner) => work({ em: inner, account: { id: null }, now }));
}

export const platformBotRoutes = [
  doors.platform(
    ['GET', base, 'List agent bots'],
    { query: 'requests/page.query', reply: 'resources/agent-bot-list', paged: true, role: 'platform' },
    async ({ em, query: { page = 1 } }) => {
      const [bots, count] = await listAgentBots(em, null, page);
      return { payload: bots.map(presentOwnBot), meta: pageMeta(count, page, agentBotsPerPage) };
    },
  ),
  doors.platform(
    ['GET', `${base}/:id`, 'Get an agent bot'],
    { reply: 'resources/agent-bot', record: true, role: 'platform' },
    async ({ em, params }) => presentOwnBot(await readAgentBot(em, null, params.id)),
  ),
  doors.platform(
    ['POST', base, 'Create an agent bot'],
    {
      body: 'requests/agent-bot.create',
      reply: 'resources/agent-bot-with-secrets',
      role: 'platform',
      status: 201,
      description: 'A system bot, for every account to use. Access token and secret are in this answer only.',
    },
    {
      prepare: ({ services, body }) => checkOutgoingUrl(services, body.outgoing_url),
      handle: async ({ services, em, now, body }) => {
        const { create, secret } = draftBot(services, body);
        const token = newToken('bot', services.random);
        const bot = await inSystem({ em, now }, async (scope) => {
          const created = await create(scope);
          await grantBotToken(scope.em, created.id, token, scope.now);
          return created;
        });
        return { ...presentOwnBot(bot), access_token: token, ...(secret === undefined ? {} : { secret }) };
      },
    },
  ),
  doors.platform(
    ['PATCH', `${base}/:id`, 'Update an agent bot'],
    { body: 'requests/agent-bot.update', reply: 'resources/agent-bot', role: 'platform' },
    {
      prepare: ({ services, body }) => checkOutgoingUrl(services, body.outgoing_url),
      handle: async ({ services, em, now, params, body }) => {
        const bot = await readAgentBot(em, null, params.id);
        const changes = readChanges(services, bot, body);
        return presentOwnBot(await inSystem({ em, now }, (scope) => updateAgentBot(scope, bot.id, changes)));
      },
    },
  ),
  doors.platform(
    ['POST', `${base}/:id/reset_access_token`, 'Reset the access token of an agent bot'],
    { reply: 'resources/agent-bot-with-secrets', role: 'platform' },
    async ({ services, em, now, params }) => {
      const token = newToken('bot', services.random);
      const bot = await inSystem({ em, now }, (scope) => resetBotToken(scope, params.id, token));
      return { ...presentOwnBot(bot), access_token: token };
    },
  ),
  doors.platform(
    ['POST', `${base}/:id/reset_secret`, 'Reset the secret of an agent bot'],
    {
      reply: 'resources/agent-bot-with-secrets',
      role: 'platform',
      description: 'For 24 hours deliveries are signed with the new secret and with the one before.',
    },
    async ({ services, em, now, params }) => {
      const secret = newWebhookSecret(services.random);
      const sealed = services.secretBox.seal(secret);
      const bot = await inSystem({ em, now }, (scope) => resetBotSecret(scope, params.id, sealed));
      return { ...presentOwnBot(bot), secret };
    },
  ),
  doors.platform(
    ['POST', `${base}/:id/release`, 'Release an agent bot from quarantine'],
    { reply: 'resources/agent-bot', role: 'platform', description: releaseDescription },
    async ({ em, now, params }) => presentOwnBot(await inSystem({ em, now }, (scope) => releaseBot(scope, params.id))),
  ),
  doors.platform(
    ['DELETE', `${base}/:id`, 'Delete an agent bot'],
    {
      reply: 'resources/empty',
      role: 'platform',
      description: 'It serves no account any more; its messages stay without their author.',
    },
    ({ em, now, params, transactIn }) => removeSystemBot(transactIn, em, { id: params.id, now }),
  ),
];
