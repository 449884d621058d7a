import { grantBotToken, listAgentBots, readAgentBot, resetBotSecret, resetBotToken } from '../../domain/bots/bots.ts';
import { changeBot } from '../../domain/bots/change.ts';
import { createBot } from '../../domain/bots/create.ts';
import { releaseBot } from '../../domain/bots/quarantine.ts';
import { findUnmetNeeds } from '../../domain/bots/unmet-needs.ts';
import { removeSystemBot } from '../../domain/platform/accounts.ts';
import type { AgentBot } from '../../records/bots/agent-bot.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Shape } from '../../schemas.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { presentPage } from '../page.ts';
import { newWebhookSecret } from '../../lib/secrets/secret-box.ts';
import { newToken } from '../../lib/secrets/tokens.ts';
import { checkOutgoingUrl, presentOwnBot, releaseDescription } from '../accounts/bots/agent-bot-records.ts';

const base = '/platform/api/v1/agent_bots';

export const platformBotRoutes = [
  doors.platform(
    ['GET', base, 'List agent bots'],
    { query: 'requests/page.query', reply: 'resources/agent-bot-list', paged: true, role: 'platform' },
    async ({ sql, query: { page = 1 } }) => {
      const listed = await listAgentBots(sql, null, page);
      const unmet = await findUnmetNeeds(sql, listed.rows);
      return presentPage(listed, (bot) => presentOwnBot(bot, { unmet: unmet.get(bot.id) }));
    },
  ),
  doors.platform(
    ['GET', `${base}/:id`, 'Get an agent bot'],
    { reply: 'resources/agent-bot', record: true, role: 'platform' },
    async ({ sql, params }) => present(sql, await readAgentBot(sql, null, params.id)),
  ),
  doors.platform(
    ['POST', base, 'Create an agent bot'],
    {
      body: 'requests/agent-bot.create',
      largeBody: true,
      reply: 'resources/agent-bot-with-secrets',
      role: 'platform',
      status: 201,
      description: 'A system bot, for every account to use. Access token and secret are in this answer only.',
    },
    {
      prepare: ({ services, body }) => checkOutgoingUrl(services, body.outgoing_url),
      handle: async ({ sql, services, body, transact }) => {
        const token = newToken('bot', services.random);
        const { bot, secret } = await transact(async (tx) => {
          const made = await createBot({ services, tx }, body);
          await grantBotToken(tx.sql, made.bot.id, token, tx.now);
          return made;
        });
        return { ...(await present(sql, bot)), access_token: token, ...(secret === undefined ? {} : { secret }) };
      },
    },
  ),
  doors.platform(
    ['PATCH', `${base}/:id`, 'Update an agent bot'],
    { body: 'requests/agent-bot.update', largeBody: true, reply: 'resources/agent-bot', role: 'platform' },
    {
      prepare: ({ services, body }) => checkOutgoingUrl(services, body.outgoing_url),
      handle: async ({ services, params, body, transact }) =>
        transact(async (tx) => {
          const bot = await readAgentBot(tx.sql, null, params.id);
          return present(tx.sql, await changeBot({ services, tx }, bot, body));
        }),
    },
  ),
  doors.platform(
    ['POST', `${base}/:id/reset_access_token`, 'Reset the access token of an agent bot'],
    { reply: 'resources/agent-bot-with-secrets', role: 'platform', audit: { action: 'token.reset' } },
    async ({ sql, services, params, transact }) => {
      const token = newToken('bot', services.random);
      const bot = await transact((tx) => resetBotToken(tx, params.id, token));
      return { ...(await present(sql, bot)), access_token: token };
    },
  ),
  doors.platform(
    ['POST', `${base}/:id/reset_secret`, 'Reset the secret of an agent bot'],
    {
      reply: 'resources/agent-bot-with-secrets',
      role: 'platform',
      audit: { action: 'secret.rotated' },
      errors: [409],
      description:
        'For 24 hours deliveries are signed with the new secret and with the one before. Refused (409) when ten secrets sign already.',
    },
    async ({ sql, services, params, transact }) => {
      const secret = newWebhookSecret(services.random);
      const sealed = services.secretBox.seal(secret);
      const bot = await transact((tx) => resetBotSecret(tx, params.id, sealed));
      return { ...(await present(sql, bot)), secret };
    },
  ),
  doors.platform(
    ['POST', `${base}/:id/release`, 'Release an agent bot from quarantine'],
    {
      reply: 'resources/agent-bot',
      role: 'platform',
      audit: { action: 'agent_bot.released' },
      description: releaseDescription,
    },
    async ({ sql, params, transact }) => present(sql, await transact((tx) => releaseBot(tx, params.id))),
  ),
  doors.platform(
    ['DELETE', `${base}/:id`, 'Delete an agent bot'],
    {
      reply: 'resources/empty',
      role: 'platform',
      inBatches: true,
      description: 'It serves no account any more; its messages stay without their author.',
    },
    ({ sql, params, transact }) => removeSystemBot(transact, sql, params.id),
  ),
];

async function present(sql: Sql, bot: AgentBot): Promise<Shape<'resources/agent-bot'>> {
  const unmet = await findUnmetNeeds(sql, [bot]);
  return presentOwnBot(bot, { unmet: unmet.get(bot.id) });
}
