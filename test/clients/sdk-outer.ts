import { expect } from 'chai';
import { makeClient } from '../support/clients.ts';
import type { FieldHome, Found } from '../support/field-clients.ts';
import { sdkRow } from '../support/field-sdk.ts';
import { botUrl, Platform } from '../support/platform.ts';

const idsOf = (records: { id: number }[]): number[] => records.map(({ id }) => id);

const newClient = async ({ maker, inbox }: FieldHome) => {
  const client = await makeClient(maker, inbox);
  const place = { inboxIdentifier: client.identifier, contactIdentifier: client.source };
  return { ...client, place, maker };
};

/** What a customer's own program calls, without a token that counts. */
const publicApi = [
  sdkRow({
    name: 'client.contacts.create',
    sends: ({ identifier }) => ({
      inboxIdentifier: identifier,
      data: { name: 'Carl', email: 'carl@example.com', identifier: '', identifier_hash: '', phone_number: '' },
    }),
    finds: (found: Found) => {
      expect(found).to.include({ name: 'Carl', email: 'carl@example.com' });
      expect(found.source_id).to.be.a('string');
    },
    says: ['contact_created'],
  }),
  sdkRow({
    name: 'client.contacts.get',
    given: newClient,
    sends: ({ place }) => place,
    finds: (found: Found, { source, contactId }) => expect(found).to.include({ source_id: source, id: contactId }),
  }),
  sdkRow({
    name: 'client.contacts.update',
    given: newClient,
    sends: ({ place }) => ({ ...place, data: { name: 'Carla', email: '' } }),
    finds: (found: Found) => expect(found).to.include({ name: 'Carla' }),
    says: ['contact_updated'],
  }),
  sdkRow({
    name: 'client.conversations.create',
    given: newClient,
    sends: ({ place }) => place,
    finds: (found: Found, { contactId, conversation }) => {
      expect(found.id).to.be.greaterThan(conversation);
      expect(found.messages).to.deep.equal([]);
      expect(found.contact.id).to.equal(contactId);
    },
    says: ['conversation_created'],
  }),
  sdkRow({
    name: 'client.conversations.list',
    given: newClient,
    sends: ({ place }) => place,
    finds: (found: Found, { conversation, message }) => {
      expect(idsOf(found)).to.deep.equal([conversation]);
      expect(idsOf(found[0].messages)).to.deep.equal([message]);
    },
  }),
  sdkRow({
    name: 'client.messages.create',
    given: newClient,
    sends: ({ place, conversation }) => ({
      ...place,
      conversationId: conversation,
      data: { content: 'Hello', echo_id: 'echo-1' },
    }),
    finds: (found: Found) => expect(found).to.include({ content: 'Hello', echo_id: 'echo-1' }),
    says: ['message_created'],
  }),
  sdkRow({
    name: 'client.messages.list',
    given: newClient,
    sends: ({ place, conversation }) => ({ ...place, conversationId: conversation }),
    finds: (found: Found, { message }) => expect(idsOf(found)).to.deep.equal([message]),
  }),
  sdkRow({
    name: 'client.messages.update',
    given: newClient,
    sends: ({ place, conversation, message }) => ({
      ...place,
      conversationId: conversation,
      messageId: message,
      data: { submitted_values: [{ title: 'Yes', value: 'yes' }] },
    }),
    finds: (found: Found) =>
      expect(found.content_attributes.submitted_values).to.deep.equal([{ title: 'Yes', value: 'yes' }]),
    says: ['message_updated'],
  }),
];

const newAccount = async ({ app }: FieldHome) => {
  const platform = new Platform(app);
  return { account: await platform.create('accounts', { name: 'Globex' }), platform, app };
};

let people = 0;

const newUser = async (home: FieldHome) => {
  const { account, platform, app } = await newAccount(home);
  people += 1;
  return { account, app, user: await platform.newUser({ email: `field.${people}@example.com` }), platform };
};

const newMember = async (home: FieldHome) => {
  const made = await newUser(home);
  await made.platform.join(made.account.id, made.user.id);
  return made;
};

const newBot = async ({ app }: FieldHome) => ({
  bot: await new Platform(app).create('agent_bots', { name: 'System', outgoing_url: botUrl }),
  app,
});

/** What the administrator of an installation calls. */
const platformApi = [
  sdkRow({
    name: 'platform.accounts.create',
    sends: () => ({ data: { name: 'Initech' } }),
    finds: (found: Found) => {
      expect(found.name).to.equal('Initech');
      expect(found.id).to.be.a('number');
    },
  }),
  sdkRow({
    name: 'platform.accounts.get',
    given: newAccount,
    sends: ({ account }) => ({ accountId: account.id }),
    finds: (found: Found, { account }) => expect(found).to.include({ id: account.id, name: 'Globex' }),
  }),
  sdkRow({
    name: 'platform.accounts.update',
    given: newAccount,
    sends: ({ account }) => ({ accountId: account.id, data: { name: 'Renamed' } }),
    finds: (found: Found, { account }) => expect(found).to.include({ id: account.id, name: 'Renamed' }),
  }),
  sdkRow({
    name: 'platform.accounts.delete',
    given: newAccount,
    sends: ({ account }) => ({ accountId: account.id }),
    finds: async (_, { account, app }) =>
      expect((await app.get(`/platform/api/v1/accounts/${account.id}`)).status).to.equal(404),
  }),
  sdkRow({
    name: 'platform.accountUsers.list',
    given: newMember,
    sends: ({ account }) => ({ accountId: account.id }),
    finds: (found: Found, { account, user }) =>
      expect(found[0]).to.include({ account_id: account.id, user_id: user.id, role: 'agent' }),
    inDefault: {
      because: 'the list is under `payload`',
      finds: ({ payload }: Found, { account, user }) =>
        expect(payload[0]).to.include({ account_id: account.id, user_id: user.id, role: 'agent' }),
    },
  }),
  sdkRow({
    name: 'platform.accountUsers.create',
    given: newUser,
    sends: ({ account, user }) => ({ accountId: account.id, data: { user_id: user.id, role: 'administrator' } }),
    finds: (found: Found, { account, user }) =>
      expect(found).to.include({ account_id: account.id, user_id: user.id, role: 'administrator' }),
  }),
  sdkRow({
    name: 'platform.accountUsers.delete',
    given: newMember,
    sends: ({ account, user }) => ({ accountId: account.id, data: { user_id: user.id } }),
    finds: async (_, { account, app }) => {
      const { body } = await app.get(`/platform/api/v1/accounts/${account.id}/account_users`);
      expect(body.payload).to.deep.equal([]);
    },
  }),
  sdkRow({
    name: 'platform.users.create',
    sends: () => ({
      data: { name: 'Pat', email: 'pat@initech.example', password: 'Password1!', custom_attributes: {} },
    }),
    finds: (found: Found) => {
      expect(found).to.include({ name: 'Pat', email: 'pat@initech.example' });
      expect(found.access_token).to.be.a('string');
    },
  }),
  sdkRow({
    name: 'platform.users.get',
    given: newUser,
    sends: ({ user }) => ({ id: user.id }),
    finds: (found: Found, { user }) => expect(found).to.include({ id: user.id, email: user.email }),
  }),
  sdkRow({
    name: 'platform.users.update',
    given: newUser,
    sends: ({ user }) => ({ id: user.id, data: { name: 'Renamed' } }),
    finds: (found: Found, { user }) => expect(found).to.include({ id: user.id, name: 'Renamed' }),
  }),
  sdkRow({
    name: 'platform.users.delete',
    given: newUser,
    sends: ({ user }) => ({ id: user.id }),
    finds: async (_, { user, app }) =>
      expect((await app.get(`/platform/api/v1/users/${user.id}`)).status).to.equal(404),
  }),
  sdkRow({
    name: 'platform.agentBots.list',
    given: newBot,
    finds: (found: Found, { bot }) => expect(idsOf(found)).to.include(bot.id),
    inDefault: {
      because: 'the list is under `payload`',
      finds: ({ payload }: Found, { bot }) => expect(idsOf(payload)).to.include(bot.id),
    },
  }),
  sdkRow({
    name: 'platform.agentBots.create',
    sends: () => ({ data: { name: 'System', description: 'Everywhere', outgoing_url: botUrl } }),
    finds: (found: Found) => {
      expect(found).to.include({ name: 'System', description: 'Everywhere' });
      expect(found.access_token).to.be.a('string');
    },
  }),
  sdkRow({
    name: 'platform.agentBots.get',
    given: newBot,
    sends: ({ bot }) => ({ id: bot.id }),
    finds: (found: Found, { bot }) => expect(found).to.include({ id: bot.id, name: 'System' }),
  }),
  sdkRow({
    name: 'platform.agentBots.update',
    given: newBot,
    sends: ({ bot }) => ({ id: bot.id, data: { name: 'Renamed' } }),
    finds: (found: Found, { bot }) => expect(found).to.include({ id: bot.id, name: 'Renamed' }),
  }),
  sdkRow({
    name: 'platform.agentBots.delete',
    given: newBot,
    sends: ({ bot }) => ({ id: bot.id }),
    finds: async (_, { bot, app }) =>
      expect((await app.get(`/platform/api/v1/agent_bots/${bot.id}`)).status).to.equal(404),
  }),
];

export const outerRows = [...publicApi, ...platformApi];
