import {
  grantBotToken,
  listAgentBots,
  readAgentBot,
  readOwnAgentBot,
  resetBotSecret,
  resetBotToken,
} from '../../../domain/bots/bots.ts';
import { changeBot } from '../../../domain/bots/change.ts';
import { createBot } from '../../../domain/bots/create.ts';
import { releaseBot } from '../../../domain/bots/quarantine.ts';
import { deleteAgentBot } from '../../../domain/bots/removal.ts';
import { pause, resume } from '../../../domain/endpoints/requested-deliveries.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { presentPage } from '../../page.ts';
import { presentAllWithHealth, presentWithHealth } from './ai-bot-health.ts';
import { newWebhookSecret } from '../../../lib/secrets/secret-box.ts';
import { newToken } from '../../../lib/secrets/tokens.ts';
import { pauseDescription, resumeDescription } from '../deliveries/endpoint-verbs.ts';
import { checkOutgoingUrl, releaseDescription } from './agent-bot-records.ts';

const base = '/api/v1/accounts/:account_id/agent_bots';

export const agentBotRoutes = [
  doors.account(
    ['GET', base, 'List agent bots'],
    { query: 'requests/page.query', reply: 'resources/agent-bot-list', paged: true, role: 'agent' },
    async ({ sql, services, account, actor, query: { page = 1 } }) => {
      const listed = await listAgentBots(sql, account.id, page);
      const rows = await presentAllWithHealth({ sql, services, actor }, listed.rows);
      return presentPage({ ...listed, rows }, (record) => record);
    },
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get an agent bot'],
    { reply: 'resources/agent-bot', record: true, role: 'agent' },
    async ({ sql, services, account, actor, params }) =>
      presentWithHealth({ sql, services, actor }, await readAgentBot(sql, account.id, params.id)),
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
      handle: async ({ services, sql, actor, body, transact }) => {
        const token = newToken('bot', services.random);
        const { bot, secret } = await transact(async (tx) => {
          const made = await createBot({ services, tx }, body);
          await grantBotToken(tx.sql, made.bot.id, token, tx.now);
          return made;
        });
        const record = await presentWithHealth({ sql, services, actor }, bot);
        return { ...record, access_token: token, ...(secret === undefined ? {} : { secret }) };
      },
    },
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update an agent bot'],
    { body: 'requests/agent-bot.update', largeBody: true, reply: 'resources/agent-bot', role: 'administrator' },
    {
      prepare: ({ services, body }) => checkOutgoingUrl(services, body.outgoing_url),
      handle: async ({ services, sql, account, actor, params, body, transact }) => {
        const bot = await transact(async (tx) =>
          changeBot({ services, tx }, await readOwnAgentBot(tx.sql, account.id, params.id), body),
        );
        return presentWithHealth({ sql, services, actor }, bot);
      },
    },
  ),
  doors.account(
    ['POST', `${base}/:id/reset_access_token`, 'Reset the access token of an agent bot'],
    { reply: 'resources/agent-bot-with-secrets', role: 'administrator', audit: { action: 'token.reset' } },
    async ({ sql, services, actor, params, transact }) => {
      const token = newToken('bot', services.random);
      const bot = await transact((tx) => resetBotToken(tx, params.id, token));
      return { ...(await presentWithHealth({ sql, services, actor }, bot)), access_token: token };
    },
  ),
  doors.account(
    ['POST', `${base}/:id/reset_secret`, 'Reset the secret of an agent bot'],
    {
      reply: 'resources/agent-bot-with-secrets',
      role: 'administrator',
      audit: { action: 'secret.rotated' },
      errors: [409],
      description:
        'For 24 hours deliveries are signed with the new secret and with the one before. Refused (409) when ten secrets sign already.',
    },
    async ({ sql, services, actor, params, transact }) => {
      const secret = newWebhookSecret(services.random);
      const bot = await transact((tx) => resetBotSecret(tx, params.id, services.secretBox.seal(secret)));
      return { ...(await presentWithHealth({ sql, services, actor }, bot)), secret };
    },
  ),
  doors.account(
    ['POST', `${base}/:id/release`, 'Release an agent bot from quarantine'],
    {
      reply: 'resources/agent-bot',
      role: 'administrator',
      audit: { action: 'agent_bot.released' },
      description: releaseDescription,
    },
    async ({ sql, services, actor, params, transact }) =>
      presentWithHealth({ sql, services, actor }, await transact((tx) => releaseBot(tx, params.id))),
  ),
  doors.account(
    ['POST', `${base}/:id/pause`, 'Pause an agent bot'],
    {
      reply: 'resources/agent-bot',
      role: 'administrator',
      audit: { action: 'agent_bot.paused' },
      description: pauseDescription,
    },
    async ({ sql, services, actor, params: { id }, transact }) =>
      presentWithHealth({ sql, services, actor }, await transact((tx) => pause(tx, { kind: 'bot' as const, id }))),
  ),
  doors.account(
    ['POST', `${base}/:id/resume`, 'Resume an agent bot'],
    {
      reply: 'resources/agent-bot',
      role: 'administrator',
      audit: { action: 'agent_bot.resumed' },
      description: resumeDescription,
    },
    async ({ sql, services, actor, params: { id }, transact }) =>
      presentWithHealth({ sql, services, actor }, await transact((tx) => resume(tx, { kind: 'bot' as const, id }))),
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete an agent bot'],
    { reply: 'resources/empty', role: 'administrator', inBatches: true },
    ({ params, transact }) => deleteAgentBot(transact, params.id),
  ),
];
