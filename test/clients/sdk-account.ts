import { expect } from 'chai';
import type { FieldHome, Found } from '../support/field-clients.ts';
import { sdkRow } from '../support/field-sdk.ts';
import { botUrl } from '../support/platform.ts';

const idsOf = (records: { id: number }[]): number[] => records.map(({ id }) => id);

const newAgent = async ({ maker, app }: FieldHome) => ({ agent: await maker.agent(), app });
const newTeam = async ({ maker, app }: FieldHome) => ({ teamId: await maker.team(), app });
const newCrew = async ({ maker, app }: FieldHome) => {
  const agents = [await maker.agent(), await maker.agent()] as const;
  const teamId = await maker.team([agents[0]]);
  return { teamId, agents, members: async () => idsOf((await app.get(`teams/${teamId}/team_members`)).body) };
};
/** A slip of the SDK: Chatwoot itself does not have these paths. */
const slip = {
  because: 'the SDK leaves out `/api/v1`',
  fails: true,
  finds: ({ status }: Found) => expect(status).to.equal(404),
} as const;
const newBot = async ({ maker, inbox, app }: FieldHome) => ({ id: (await maker.bot()).id, inbox, app });
const newWebhook = async ({ maker, app }: FieldHome) => ({ webhookId: await maker.webhook(), app });
const newInbox = async ({ maker }: FieldHome) => {
  const agents = [await maker.agent(), await maker.agent()] as const;
  return { id: await maker.inbox({ members: [agents[0]] }), agents, maker };
};

const people = [
  sdkRow({
    name: 'profile.profile',
    finds: (found: Found) => {
      expect(found).to.include({ id: 1, name: 'Administrator', role: 'administrator', account_id: 1 });
      expect(found.accounts[0]).to.include({ id: 1, role: 'administrator' });
    },
  }),
  sdkRow({
    name: 'agents.list',
    finds: (found: Found, { agent }) => {
      expect(found.find(({ id }: Found) => id === agent.id)).to.include({
        name: 'Ann Agent',
        role: 'agent',
        availability_status: 'online',
        confirmed: true,
      });
    },
  }),
  sdkRow({
    name: 'agents.create',
    given: ({ maker }) => ({ email: `${maker.text('new').replaceAll(' ', '.').toLowerCase()}@example.com` }),
    sends: ({ email }) => ({ data: { name: 'Bob', email, role: 'agent', auto_offline: true } }),
    finds: (found: Found, { email }) => {
      expect(found).to.include({ name: 'Bob', email, role: 'agent' });
      expect(found.id).to.be.a('number');
    },
  }),
  sdkRow({
    name: 'agents.update',
    given: newAgent,
    sends: ({ agent }) => ({
      id: agent.id,
      data: { role: 'administrator', availability: 'busy', auto_offline: false },
    }),
    finds: (found: Found, { agent }) =>
      expect(found).to.include({ id: agent.id, role: 'administrator', availability_status: 'busy' }),
  }),
  sdkRow({
    name: 'agents.delete',
    given: newAgent,
    sends: ({ agent }) => ({ id: agent.id }),
    finds: async (_, { agent, app }) => expect(idsOf((await app.get('agents')).body)).not.to.include(agent.id),
  }),
];

const teams = [
  sdkRow({
    name: 'teams.list',
    given: newTeam,
    finds: (found: Found, { teamId }) => expect(idsOf(found)).to.include(teamId),
  }),
  sdkRow({
    name: 'teams.create',
    given: ({ maker }) => ({ name: maker.text('crew').toLowerCase() }),
    sends: ({ name }) => ({ data: { name, description: 'Night shift', allow_auto_assign: true } }),
    finds: (found: Found, { name }) => {
      expect(found).to.include({ name, description: 'Night shift', allow_auto_assign: true });
      expect(found.id).to.be.a('number');
    },
  }),
  sdkRow({
    name: 'teams.get',
    given: newTeam,
    sends: ({ teamId }) => ({ teamId }),
    finds: (found: Found, { teamId }) => expect(found.id).to.equal(teamId),
  }),
  sdkRow({
    name: 'teams.update',
    given: newTeam,
    sends: ({ teamId }) => ({ teamId, data: { description: 'Day shift' } }),
    finds: (found: Found, { teamId }) => expect(found).to.include({ id: teamId, description: 'Day shift' }),
  }),
  sdkRow({
    name: 'teams.delete',
    given: newTeam,
    sends: ({ teamId }) => ({ teamId }),
    finds: async (_, { teamId, app }) => expect((await app.get(`teams/${teamId}`)).status).to.equal(404),
  }),
  sdkRow({
    name: 'teams.listMembers',
    given: newCrew,
    sends: ({ teamId }) => ({ teamId }),
    finds: (found: Found, { agents }) => expect(idsOf(found)).to.deep.equal([agents[0].id]),
    inDefault: slip,
  }),
  sdkRow({
    name: 'teams.addAgent',
    given: newCrew,
    sends: ({ teamId, agents }) => ({ teamId, data: { user_ids: [agents[1].id] } }),
    finds: async (found: Found, { agents, members }) => {
      expect(idsOf(found)).to.include(agents[1].id);
      expect(await members()).to.have.members(idsOf([...agents]));
    },
    inDefault: slip,
  }),
  sdkRow({
    name: 'teams.updateAgentsInTeam',
    given: newCrew,
    sends: ({ teamId, agents }) => ({ teamId, data: { user_ids: [agents[1].id] } }),
    finds: async (found: Found, { agents, members }) => {
      expect(idsOf(found)).to.deep.equal([agents[1].id]);
      expect(await members()).to.deep.equal([agents[1].id]);
    },
    inDefault: slip,
  }),
  sdkRow({
    name: 'teams.removeAgent',
    given: newCrew,
    sends: ({ teamId, agents }) => ({ teamId, data: { user_ids: [agents[0].id] } }),
    finds: async (_, { members }) => expect(await members()).to.deep.equal([]),
    inDefault: slip,
  }),
];

const inboxes = [
  sdkRow({
    name: 'inboxes.list',
    finds: ({ payload }: Found, { inbox, identifier }) => {
      const found = payload.find(({ id }: Found) => id === inbox);
      expect(found).to.include({ channel_type: 'Channel::Api', inbox_identifier: identifier });
    },
  }),
  sdkRow({
    name: 'inboxes.get',
    sends: ({ inbox }) => ({ id: inbox }),
    finds: (found: Found, { inbox, identifier }) =>
      expect(found).to.include({ id: inbox, inbox_identifier: identifier, greeting_enabled: false }),
  }),
  sdkRow({
    name: 'inboxes.create',
    sends: () => ({
      data: { name: 'WhatsApp', channel: { type: 'api' } },
    }),
    finds: (found: Found) => {
      expect(found).to.include({ name: 'WhatsApp', channel_type: 'Channel::Api' });
      expect(found.inbox_identifier).to.match(/^[0-9a-f-]{36}$/);
    },
  }),
  sdkRow({
    name: 'inboxes.update',
    given: newInbox,
    sends: ({ id }) => ({ id, data: { name: 'Renamed', enable_auto_assignment: true, channel: {} } }),
    finds: (found: Found, { id }) => expect(found).to.include({ id, name: 'Renamed', enable_auto_assignment: true }),
  }),
  sdkRow({
    name: 'inboxes.getAgentBot',
    given: async ({ maker }) => {
      const bot = await maker.bot();
      return { id: await maker.inbox({ bot }), bot };
    },
    sends: ({ id }) => ({ id }),
    finds: (found: Found, { bot }) => expect(found.agent_bot.id).to.equal(bot.id),
  }),
  sdkRow({
    name: 'inboxes.updateAgentBot',
    given: newBot,
    sends: ({ id, inbox }) => ({ id: inbox, data: { agent_bot: id } }),
    finds: async (_, { id, inbox, app }) => {
      expect((await app.get(`inboxes/${inbox}/agent_bot`)).body.agent_bot.id).to.equal(id);
      await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: null });
    },
  }),
  sdkRow({
    name: 'inboxes.listAgents',
    given: newInbox,
    sends: ({ id }) => ({ inboxId: id }),
    finds: ({ payload }: Found, { agents }) => expect(idsOf(payload)).to.deep.equal([agents[0].id]),
  }),
  sdkRow({
    name: 'inboxes.addAgent',
    given: newInbox,
    sends: ({ id, agents }) => ({ data: { inbox_id: String(id), user_ids: [agents[1].id] } }),
    finds: ({ payload }: Found, { agents }) => expect(idsOf(payload)).to.have.members(idsOf([...agents])),
  }),
  sdkRow({
    name: 'inboxes.updateAgentsInInbox',
    given: newInbox,
    sends: ({ id, agents }) => ({ data: { inbox_id: String(id), user_ids: [agents[1].id] } }),
    finds: ({ payload }: Found, { agents }) => expect(idsOf(payload)).to.deep.equal([agents[1].id]),
  }),
];

const bots = [
  sdkRow({
    name: 'accountAgentBots.list',
    given: newBot,
    finds: (found: Found, { id }) => expect(idsOf(found)).to.include(id),
    inDefault: {
      because: 'the list is under `payload`',
      finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.include(id),
    },
  }),
  sdkRow({
    name: 'accountAgentBots.create',
    sends: () => ({ data: { name: 'Helper', description: 'Answers', outgoing_url: botUrl } }),
    finds: (found: Found) => {
      expect(found).to.include({ name: 'Helper', description: 'Answers', outgoing_url: botUrl });
      expect(found.id).to.be.a('number');
      expect(found.access_token).to.be.a('string');
    },
  }),
  sdkRow({
    name: 'accountAgentBots.get',
    given: newBot,
    sends: ({ id }) => ({ id }),
    finds: (found: Found, { id }) => expect(found.id).to.equal(id),
  }),
  sdkRow({
    name: 'accountAgentBots.update',
    given: newBot,
    sends: ({ id }) => ({ id, data: { name: 'Renamed' } }),
    finds: (found: Found, { id }) => expect(found).to.include({ id, name: 'Renamed' }),
  }),
  sdkRow({
    name: 'accountAgentBots.delete',
    given: newBot,
    sends: ({ id }) => ({ id }),
    finds: async (_, { id, app }) => expect((await app.get(`agent_bots/${id}`)).status).to.equal(404),
  }),
];

const subscription = { url: 'https://bridge.example.com/hook', subscriptions: ['message_created'] };

const webhooks = [
  sdkRow({
    name: 'webhooks.list',
    given: newWebhook,
    finds: ({ payload }: Found, { webhookId }) => expect(idsOf(payload.webhooks)).to.include(webhookId),
    inDefault: {
      because: '`payload` is the list',
      finds: ({ payload }: Found, { webhookId }) => expect(idsOf(payload)).to.include(webhookId),
    },
  }),
  sdkRow({
    name: 'webhooks.create',
    sends: () => ({ data: subscription }),
    finds: ({ payload }: Found) => {
      expect(payload.webhook).to.deep.include(subscription);
      expect(payload.webhook.id).to.be.a('number');
    },
  }),
  sdkRow({
    name: 'webhooks.create#with an event that is not told here',
    sends: () => ({
      data: { url: 'https://bridge.example.com/more', subscriptions: ['message_created', 'inbox_created'] },
    }),
    finds: ({ payload }: Found) => expect(payload.webhook.subscriptions).to.deep.equal(['message_created']),
    inDefault: {
      because: 'subscriptions to nothing are refused',
      fails: true,
      finds: ({ status, body }: Found) =>
        expect([status, body.details[0].path]).to.deep.equal([422, '/subscriptions/1']),
    },
  }),
  sdkRow({
    name: 'webhooks.update',
    given: newWebhook,
    sends: ({ webhookId }) => ({ webhookId, data: { subscriptions: ['message_updated'] } }),
    finds: ({ payload }: Found, { webhookId }) =>
      expect(payload.webhook).to.deep.include({ id: webhookId, subscriptions: ['message_updated'] }),
    inDefault: {
      because: 'the answer is the webhook',
      finds: (found: Found, { webhookId }) =>
        expect(found).to.deep.include({ id: webhookId, subscriptions: ['message_updated'] }),
    },
  }),
  sdkRow({
    name: 'webhooks.delete',
    given: newWebhook,
    sends: ({ webhookId }) => ({ webhookId }),
    finds: async (_, { webhookId, app }) => expect((await app.get(`webhooks/${webhookId}`)).status).to.equal(404),
  }),
];

const newDefinition = async ({ maker, app }: FieldHome) => {
  const key = maker.text('key').replaceAll(' ', '_');
  const definition = { attribute_key: key, attribute_model: 'contact_attribute', attribute_display_name: 'Plan' };
  return { id: await maker.post('custom_attribute_definitions', definition), key, app };
};

/** Kinds as the SDK's documentation has them: 0 and 1. */
const words = {
  because: 'kinds are words',
  fails: true,
  finds: ({ status, body }: Found) => expect([status, body.details[0].rule]).to.deep.equal([422, 'enum']),
} as const;

const definitions = [
  sdkRow({
    name: 'customAttributes.list',
    given: newDefinition,
    sends: () => ({ attributeModel: '1' }),
    finds: (found: Found, { id, key }) => {
      const one = found.find((definition: Found) => definition.id === id);
      expect(one).to.include({
        attribute_key: key,
        attribute_model: 'contact_attribute',
        attribute_display_type: 'text',
      });
    },
    inDefault: {
      because: 'the list is under `payload`',
      finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.include(id),
    },
  }),
  sdkRow({
    name: 'customAttributes.list#of conversations',
    given: newDefinition,
    sends: () => ({ attributeModel: '0' }),
    finds: (found: Found) => expect(found).to.deep.equal([]),
    inDefault: {
      because: 'there is one list of all',
      finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.include(id),
    },
  }),
  sdkRow({
    name: 'customAttributes.create',
    sends: () => ({
      data: {
        attribute_key: 'waha_whatsapp_jid',
        attribute_display_name: 'WhatsApp JID',
        attribute_display_type: 0,
        attribute_description: 'WhatsApp Phone Number ID',
        attribute_model: 1,
      },
    }),
    finds: (found: Found) =>
      expect(found).to.include({ attribute_key: 'waha_whatsapp_jid', attribute_model: 'contact_attribute' }),
    inDefault: words,
  }),
  sdkRow({
    name: 'customAttributes.get',
    given: newDefinition,
    sends: ({ id }) => ({ id }),
    finds: (found: Found, { id, key }) => expect(found).to.include({ id, attribute_key: key }),
  }),
  sdkRow({
    name: 'customAttributes.update',
    given: newDefinition,
    sends: ({ id, key }) => ({
      id,
      data: {
        attribute_key: key,
        attribute_display_name: 'Tariff',
        attribute_display_type: 0,
        attribute_description: 'x',
      },
    }),
    finds: (found: Found, { id, key }) =>
      expect(found).to.include({
        id,
        attribute_key: key,
        attribute_display_name: 'Tariff',
        attribute_description: 'x',
      }),
    inDefault: words,
  }),
  sdkRow({
    name: 'customAttributes.delete',
    given: newDefinition,
    sends: ({ id }) => ({ id }),
    finds: async (_, { id, app }) => expect((await app.get(`custom_attribute_definitions/${id}`)).status).to.equal(404),
  }),
];

export const accountRows = [...definitions, ...people, ...teams, ...inboxes, ...bots, ...webhooks];
