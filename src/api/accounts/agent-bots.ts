import {
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
import { pause, resume } from '../../domain/endpoints/asked.ts';
import { doors } from '../../http/route/doors.ts';
import { presentPage } from '../page.ts';
import { newWebhookSecret } from '../../lib/secret-box.ts';
import { newToken } from '../../lib/tokens.ts';
import { pauseDescription, resumeDescription } from './endpoint-verbs.ts';
import { checkOutgoingUrl, draftBot, presentAgentBot, readChanges, releaseDescription } from './agent-bot-records.ts';

const base = '/api/v1/accounts/:account_id/agent_bots';

export const agentBotRoutes = [
  doors.account(
    ['GET', base, 'List agent bots'],
    { query: 'requests/page.query', reply: 'resources/agent-bot-list', paged: true, role: 'agent' },
    async ({ em, account, query: { page = 1 } }) =>
      presentPage(await listAgentBots(em, account.id, page), presentAgentBot),
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get an agent bot'],
    { reply: 'resources/agent-bot', record: true, role: 'agent' },
    async ({ em, account, params }) => presentAgentBot(await readAgentBot(em, account.id, params.id)),
  ),
  doors.account(
    ['POST', base, 'Create an agent bot'],
    {
      body: 'requests/agent-bot.create',
      largeBody: true,
      reply: 'resources/agent-bot-with-secrets',
      role: 'administrator',
      status: 201,
    },
    {
      prepare: ({ services, body }) => checkOutgoingUrl(services, body.outgoing_url),
      handle: async ({ services, em, body, transact }) => {
        const { create, secret } = await draftBot({ services, em }, body);
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
  doors.account(
    ['PATCH', `${base}/:id`, 'Update an agent bot'],
    { body: 'requests/agent-bot.update', largeBody: true, reply: 'resources/agent-bot', role: 'administrator' },
    {
      prepare: ({ services, body }) => checkOutgoingUrl(services, body.outgoing_url),
      handle: async ({ services, em, account, params, body, transact }) => {
        const bot = await readOwnAgentBot(em, account.id, params.id);
        const changes = await readChanges({ services, em }, bot, body);
        return presentAgentBot(await transact((tx) => updateAgentBot(tx, bot.id, changes)));
      },
    },
  ),
  doors.account(
    ['POST', `${base}/:id/reset_access_token`, 'Reset the access token of an agent bot'],
    { reply: 'resources/agent-bot-with-secrets', role: 'administrator' },
    async ({ services, params, transact }) => {
      const token = newToken('bot', services.random);
      const bot = await transact((tx) => resetBotToken(tx, params.id, token));
      return { ...presentAgentBot(bot), access_token: token };
    },
  ),
  doors.account(
    ['POST', `${base}/:id/reset_secret`, 'Reset the secret of an agent bot'],
    {
      reply: 'resources/agent-bot-with-secrets',
      role: 'administrator',
      description: 'For 24 hours deliveries are signed with the new secret and with the one before.',
    },
    async ({ services, params, transact }) => {
      const secret = newWebhookSecret(services.random);
      const bot = await transact((tx) => resetBotSecret(tx, params.id, services.secretBox.seal(secret)));
      return { ...presentAgentBot(bot), secret };
    },
  ),
  doors.account(
    ['POST', `${base}/:id/release`, 'Release an agent bot from quarantine'],
    { reply: 'resources/agent-bot', role: 'administrator', description: releaseDescription },
    async ({ params, transact }) => presentAgentBot(await transact((tx) => releaseBot(tx, params.id))),
  ),
  doors.account(
    ['POST', `${base}/:id/pause`, 'Pause an agent bot'],
    { reply: 'resources/agent-bot', role: 'administrator', description: pauseDescription },
    async ({ params: { id }, transact }) =>
      presentAgentBot(await transact((tx) => pause(tx, { kind: 'bot' as const, id }))),
  ),
  doors.account(
    ['POST', `${base}/:id/resume`, 'Resume an agent bot'],
    { reply: 'resources/agent-bot', role: 'administrator', description: resumeDescription },
    async ({ params: { id }, transact }) =>
      presentAgentBot(await transact((tx) => resume(tx, { kind: 'bot' as const, id }))),
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete an agent bot'],
    { reply: 'resources/empty', role: 'administrator', inBatches: true },
    ({ params, transact }) => deleteAgentBot(transact, params.id),
  ),
];
