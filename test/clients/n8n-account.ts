import { expect } from 'chai';
import type { FieldHome, Found } from '../support/field-clients.ts';
import { n8nRow } from '../support/field-n8n.ts';
import { botUrl, Platform } from '../support/platform.ts';

const idsOf = (records: { id: number }[]): number[] => records.map(({ id }) => id);
const bare = 'the list is under `payload`';

const newAccount = async ({ app }: FieldHome) => {
  const platform = new Platform(app);
  const { id } = await platform.create('accounts', { name: 'Globex' });
  return { id, at: { account_id: id }, platform, app };
};

let people = 0;

const newUser = async (home: FieldHome) => {
  const made = await newAccount(home);
  people += 1;
  const user = await made.platform.newUser({ email: `node.${people}@example.com` });
  return { ...made, user, body: { user_id: user.id as number } };
};

const ofUser = async (home: FieldHome) => {
  const { user, app } = await newUser(home);
  return { user, app, at: { id: user.id as number } };
};

const newMember = async (home: FieldHome) => {
  const made = await newUser(home);
  await made.platform.join(made.id, made.user.id);
  return made;
};

const newSystemBot = async ({ app }: FieldHome) => {
  const { id } = await new Platform(app).create('agent_bots', { name: 'System', outgoing_url: botUrl });
  return { id: id as number, at: { id: id as number }, app };
};

const newBot = async ({ maker, app }: FieldHome) => {
  const { id } = await maker.bot();
  return { id, at: { id }, app };
};

const bot = { name: 'Helper', description: 'Answers', outgoing_url: botUrl };

const platform = [
  n8nRow({
    name: 'Accounts: Create An Account',
    given: () => ({ body: { name: 'Initech' } }),
    finds: (found: Found) => expect(found.name).to.equal('Initech'),
  }),
  n8nRow({
    name: 'Accounts: Get Details Of An Account',
    given: newAccount,
    finds: (found: Found, { id }) => expect(found.id).to.equal(id),
  }),
  n8nRow({
    name: 'Accounts: Update An Account',
    given: async (home) => ({ ...(await newAccount(home)), body: { name: 'Renamed' } }),
    finds: (found: Found, { id }) => expect(found).to.include({ id, name: 'Renamed' }),
  }),
  n8nRow({
    name: 'Accounts: Delete An Account',
    given: newAccount,
    finds: async (_, { id, app }) => expect((await app.get(`/platform/api/v1/accounts/${id}`)).status).to.equal(404),
  }),
  n8nRow({
    name: 'Account Users: List All Account Users',
    given: newMember,
    finds: (found: Found, { user }) => expect(found[0].user_id).to.equal(user.id),
    inDefault: { because: bare, finds: ({ payload }: Found, { user }) => expect(payload[0].user_id).to.equal(user.id) },
  }),
  n8nRow({
    name: 'Account Users: Create An Account User',
    given: async (home) => {
      const made = await newUser(home);
      return { ...made, body: { ...made.body, role: 'agent' } };
    },
    finds: (found: Found, { id, user }) =>
      expect(found).to.include({ account_id: id, user_id: user.id, role: 'agent' }),
  }),
  n8nRow({
    name: 'Account Users: Delete An Account User',
    given: newMember,
    finds: async (_, { id, app }) =>
      expect((await app.get(`/platform/api/v1/accounts/${id}/account_users`)).body.payload).to.deep.equal([]),
  }),
  n8nRow({
    name: 'Agent Bots: List All Agent Bots',
    given: newSystemBot,
    finds: (found: Found, { id }) => expect(idsOf(found)).to.include(id),
    inDefault: { because: bare, finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.include(id) },
  }),
  n8nRow({
    name: 'Agent Bots: Create An Agent Bot',
    given: () => ({ body: bot }),
    finds: (found: Found) => expect(found).to.include({ name: 'Helper', description: 'Answers' }),
  }),
  n8nRow({
    name: 'Agent Bots: Get Details Of A Single Agent Bot',
    given: newSystemBot,
    finds: (found: Found, { id }) => expect(found.id).to.equal(id),
  }),
  n8nRow({
    name: 'Agent Bots: Update An Agent Bot',
    given: async (home) => ({ ...(await newSystemBot(home)), body: bot }),
    finds: (found: Found, { id }) => expect(found).to.include({ id, name: 'Helper' }),
  }),
  n8nRow({
    name: 'Agent Bots: Delete An Agent Bot',
    given: newSystemBot,
    finds: async (_, { id, app }) => expect((await app.get(`/platform/api/v1/agent_bots/${id}`)).status).to.equal(404),
  }),
  n8nRow({
    name: 'Users: Create A User',
    given: () => ({ body: { name: 'Pat', email: 'pat@initech.example', password: 'Password1!' } }),
    finds: (found: Found) => expect(found).to.include({ name: 'Pat', email: 'pat@initech.example' }),
  }),
  n8nRow({
    name: 'Users: Get Details Of A User',
    given: ofUser,
    finds: (found: Found, { user }) => expect(found.id).to.equal(user.id),
  }),
  n8nRow({
    name: 'Users: Update A User',
    given: async (home) => {
      const made = await ofUser(home);
      return { ...made, body: { name: 'Renamed', email: made.user.email } };
    },
    finds: (found: Found, { user }) => expect(found).to.include({ id: user.id, name: 'Renamed' }),
  }),
  n8nRow({
    name: 'Users: Delete A User',
    given: ofUser,
    finds: async (_, { user, app }) =>
      expect((await app.get(`/platform/api/v1/users/${user.id}`)).status).to.equal(404),
  }),
];

const newAgent = async ({ maker, app }: FieldHome) => {
  const { id } = await maker.agent();
  return { id, at: { id }, app };
};

const newTeam = async ({ maker, app }: FieldHome) => {
  const members = [await maker.agent(), await maker.agent()] as const;
  const id = await maker.team([members[0]]);
  return { id, members, at: { team_id: id }, app, body: { user_ids: [members[1].id] } };
};

const ofTeam = async (home: FieldHome) => {
  const { body: _, ...made } = await newTeam(home);
  return made;
};

const newInbox = async ({ maker, app }: FieldHome) => {
  const members = [await maker.agent(), await maker.agent()] as const;
  const id = await maker.inbox({ members: [members[0]], bot: await maker.bot() });
  return { id, members, app, at: { id, inbox_id: id } };
};

const ofInbox = async (home: FieldHome, member: 0 | 1) => {
  const made = await newInbox(home);
  return { ...made, body: { inbox_id: String(made.id), user_ids: [made.members[member].id] } };
};

const newWebhook = async ({ maker, app }: FieldHome) => {
  const id = await maker.webhook();
  return { id, at: { webhook_id: id }, app };
};

const hook = { url: 'https://bridge.example.com/hook', subscriptions: ['message_created', 'conversation_updated'] };

const account = [
  n8nRow({
    name: 'Profile: Fetch Profile',
    finds: (found: Found) => expect(found).to.include({ id: 1, name: 'Administrator' }),
  }),
  n8nRow({
    name: 'Account Agent Bots: List All Account Agent Bots',
    given: newBot,
    finds: (found: Found, { id }) => expect(idsOf(found)).to.include(id),
    inDefault: { because: bare, finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.include(id) },
  }),
  n8nRow({
    name: 'Account Agent Bots: Create An Account Agent Bot',
    given: () => ({ body: bot }),
    finds: (found: Found) => expect(found).to.include({ name: 'Helper', description: 'Answers' }),
  }),
  n8nRow({
    name: 'Account Agent Bots: Get Details Of A Single Account Agent Bot',
    given: newBot,
    finds: (found: Found, { id }) => expect(found.id).to.equal(id),
  }),
  n8nRow({
    name: 'Account Agent Bots: Update An Account Agent Bot',
    given: async (home) => ({ ...(await newBot(home)), body: bot }),
    finds: (found: Found, { id }) => expect(found).to.include({ id, name: 'Helper' }),
  }),
  n8nRow({
    name: 'Account Agent Bots: Delete An Account Agent Bot',
    given: newBot,
    finds: async (_, { id, app }) => expect((await app.get(`agent_bots/${id}`)).status).to.equal(404),
  }),
  n8nRow({
    name: 'Agents: Get Account Agents',
    finds: (found: Found, { agent }) => expect(idsOf(found)).to.include(agent.id),
  }),
  n8nRow({
    name: 'Agents: Add New Agent To Account',
    given: () => ({ body: { name: 'Bob', email: 'bob@node.example' } }),
    finds: (found: Found) => expect(found).to.include({ name: 'Bob', role: 'agent', availability_status: 'online' }),
  }),
  n8nRow({
    name: 'Agents: Update Agent In Account',
    given: async (home) => ({ ...(await newAgent(home)), body: { role: 'administrator', availability: 'busy' } }),
    finds: (found: Found, { id }) =>
      expect(found).to.include({ id, role: 'administrator', availability_status: 'busy' }),
  }),
  n8nRow({
    name: 'Agents: Delete Agent From Account',
    given: newAgent,
    finds: async (_, { id, app }) => expect(idsOf((await app.get('agents')).body)).not.to.include(id),
  }),
  n8nRow({
    name: 'Inboxes: List All Inboxes',
    finds: ({ payload }: Found, { inbox }) => expect(idsOf(payload)).to.include(inbox),
  }),
  n8nRow({
    name: 'Inboxes: Get Inbox',
    given: newInbox,
    finds: (found: Found, { id }) => expect(found.id).to.equal(id),
  }),
  n8nRow({
    name: 'Inboxes: Inbox Creation',
    given: () => ({ body: { name: 'Shop', channel: { type: 'web_widget', website_url: 'https://shop.example' } } }),
    finds: (found: Found) => expect(found).to.include({ name: 'Shop', channel_type: 'Channel::WebWidget' }),
  }),
  n8nRow({
    name: 'Inboxes: Update Inbox',
    given: async (home) => ({ ...(await newInbox(home)), body: { name: 'Renamed' } }),
    finds: (found: Found, { id }) => expect(found).to.include({ id, name: 'Renamed', enable_auto_assignment: true }),
  }),
  n8nRow({
    name: 'Inboxes: Get Inbox Agent Bot',
    given: newInbox,
    finds: (found: Found) => expect(found.agent_bot.id).to.be.a('number'),
  }),
  n8nRow({
    name: 'Inboxes: Update Agent Bot',
    given: async (home) => ({ ...(await newInbox(home)), body: { agent_bot: (await home.maker.bot()).id } }),
    finds: async (_, { id, app, body }) =>
      expect((await app.get(`inboxes/${id}/agent_bot`)).body.agent_bot.id).to.equal(body.agent_bot),
  }),
  n8nRow({
    name: 'Inboxes: Get Inbox Members',
    given: newInbox,
    finds: ({ payload }: Found, { members }) => expect(idsOf(payload)).to.deep.equal([members[0].id]),
  }),
  n8nRow({
    name: 'Inboxes: Add New Agent To Inbox',
    given: (home) => ofInbox(home, 1),
    finds: ({ payload }: Found, { members }) => expect(idsOf(payload)).to.have.members(idsOf([...members])),
  }),
  n8nRow({
    name: 'Inboxes: Delete Agent In Inbox',
    given: (home) => ofInbox(home, 0),
    finds: async (_, { id, app }) => expect((await app.get(`inboxes/${id}/members`)).body.payload).to.deep.equal([]),
  }),
  n8nRow({
    name: 'Inboxes: Update Agents In Inbox',
    given: (home) => ofInbox(home, 1),
    finds: ({ payload }: Found, { members }) => expect(idsOf(payload)).to.deep.equal([members[1].id]),
  }),
  n8nRow({
    name: 'Teams: List All Teams',
    given: ofTeam,
    finds: (found: Found, { id }) => expect(idsOf(found)).to.include(id),
  }),
  n8nRow({
    name: 'Teams: Create A Team',
    given: () => ({ body: { name: 'night crew' } }),
    finds: (found: Found) => expect(found).to.include({ name: 'night crew', allow_auto_assign: true }),
  }),
  n8nRow({
    name: 'Teams: Get Details Of A Single Team',
    given: ofTeam,
    finds: (found: Found, { id }) => expect(found.id).to.equal(id),
  }),
  n8nRow({
    name: 'Teams: Update A Team',
    given: async (home) => ({ ...(await ofTeam(home)), body: { name: 'day crew', description: 'By day' } }),
    finds: (found: Found, { id }) => expect(found).to.include({ id, name: 'day crew', description: 'By day' }),
  }),
  n8nRow({
    name: 'Teams: Delete A Team',
    given: ofTeam,
    finds: async (_, { id, app }) => expect((await app.get(`teams/${id}`)).status).to.equal(404),
  }),
  n8nRow({
    name: 'Teams: Get Team Members',
    given: ofTeam,
    finds: (found: Found, { members }) => expect(idsOf(found)).to.deep.equal([members[0].id]),
  }),
  n8nRow({
    name: 'Teams: Add New Agent To Team',
    given: newTeam,
    finds: (found: Found, { members }) => expect(idsOf(found)).to.include(members[1].id),
  }),
  n8nRow({
    name: 'Teams: Delete Agent In Team',
    given: async (home) => {
      const made = await newTeam(home);
      return { ...made, body: { user_ids: [made.members[0].id] } };
    },
    finds: async (_, { id, app }) => expect(idsOf((await app.get(`teams/${id}/team_members`)).body)).to.deep.equal([]),
  }),
  n8nRow({
    name: 'Teams: Update Agents In Team',
    given: newTeam,
    finds: (found: Found, { members }) => expect(idsOf(found)).to.deep.equal([members[1].id]),
  }),
  n8nRow({
    name: 'Webhooks: List All Webhooks',
    given: newWebhook,
    finds: ({ payload }: Found, { id }) => expect(idsOf(payload.webhooks)).to.include(id),
    inDefault: {
      because: '`payload` is the list',
      finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.include(id),
    },
  }),
  n8nRow({
    name: 'Webhooks: Create A Webhook',
    given: () => ({ body: hook }),
    finds: ({ payload }: Found) => expect(payload.webhook).to.deep.include(hook),
  }),
  n8nRow({
    name: 'Webhooks: Update A Webhook',
    given: async (home) => ({ ...(await newWebhook(home)), body: { ...hook, url: 'https://bridge.example.com/2' } }),
    finds: async (_, { id, app }) =>
      expect((await app.get(`webhooks/${id}`)).body).to.deep.include({ ...hook, url: 'https://bridge.example.com/2' }),
  }),
  n8nRow({
    name: 'Webhooks: Delete A Webhook',
    given: newWebhook,
    finds: async (_, { id, app }) => expect((await app.get(`webhooks/${id}`)).status).to.equal(404),
  }),
];

export const accountRows = [...platform, ...account];
