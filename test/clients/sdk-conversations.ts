import { expect } from 'chai';
import type { FieldHome, Found } from '../support/field-clients.ts';
import { sdkRow } from '../support/field-sdk.ts';

const idsOf = (records: { id: number }[]): number[] => records.map(({ id }) => id);
const pixel = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');

const newContact = async ({ maker }: FieldHome) => {
  const email = `${maker.text('ada').replaceAll(' ', '.').toLowerCase()}@example.com`;
  return { id: await maker.contact({ email, custom_attributes: { plan: 'free' } }), email };
};

const newConversation = async ({ maker, inbox, agent, app }: FieldHome) => {
  const contact = await maker.contact();
  const id = await maker.conversation(inbox, { contact_id: contact });
  return { id, contact, inbox, agent, maker, app };
};

const newMessage = async (home: FieldHome) => {
  const { id } = await newConversation(home);
  return { id, message: await home.maker.message(id, { message_type: 'outgoing' }), maker: home.maker };
};

const newLabels = async (home: FieldHome) => {
  const { id } = await newConversation(home);
  return { id, labels: [(await home.maker.label()).title, (await home.maker.label()).title].sort(), maker: home.maker };
};

/** Contacts. */
const contacts = [
  sdkRow({
    name: 'contacts.list',
    given: newContact,
    sends: () => ({ sort: '-last_activity_at' }),
    finds: ({ payload, meta }: Found, { id }) => {
      expect(idsOf(payload)).to.include(id);
      expect(meta).to.include({ count: payload.length });
    },
  }),
  sdkRow({
    name: 'contacts.create',
    sends: ({ inbox }) => ({ data: { inbox_id: inbox, name: 'Ada', phone_number: '', identifier: '', email: '' } }),
    finds: ({ payload }: Found, { inbox }) => {
      expect(payload.contact).to.include({ name: 'Ada' });
      expect(payload.contact.id).to.be.a('number');
      expect(payload.contact_inbox.inbox.id).to.equal(inbox);
      expect(payload.contact_inbox.source_id).to.be.a('string');
    },
    says: ['contact_created'],
  }),
  sdkRow({
    name: 'contacts.get',
    given: newContact,
    sends: ({ id }) => ({ id }),
    finds: ({ payload }: Found, { id, email }) => expect(payload).to.include({ id, email }),
  }),
  sdkRow({
    name: 'contacts.update',
    given: newContact,
    sends: ({ id }) => ({ id, data: { name: 'Grace', email: '', custom_attributes: { seats: 3 } } }),
    finds: ({ payload }: Found, { id, email }) =>
      expect(payload).to.deep.include({ id, name: 'Grace', email, custom_attributes: { plan: 'free', seats: 3 } }),
    says: ['contact_updated'],
  }),
  sdkRow({
    name: 'contacts.delete',
    given: async (home) => ({ ...(await newContact(home)), app: home.app }),
    sends: ({ id }) => ({ id }),
    finds: async (_, { id, app }) => expect((await app.get(`contacts/${id}`)).status).to.equal(404),
    says: ['contact_deleted'],
  }),
  sdkRow({
    name: 'contacts.listConversations',
    given: newConversation,
    sends: ({ contact }) => ({ id: contact }),
    finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.deep.equal([id]),
  }),
  sdkRow({
    name: 'contacts.search',
    given: newContact,
    sends: ({ email }) => ({ q: email, sort: 'name' }),
    finds: ({ payload, meta }: Found, { id }) => {
      expect(idsOf(payload)).to.deep.equal([id]);
      expect(meta.count).to.equal(1);
    },
  }),
  sdkRow({
    name: 'contacts.filter',
    given: newContact,
    sends: ({ email }) => ({
      page: 1,
      payload: [
        { attribute_key: 'email', filter_operator: 'equal_to', values: [email], query_operator: 'AND' },
        { attribute_key: 'plan', filter_operator: 'equal_to', values: ['free'] },
      ],
    }),
    finds: ({ payload, meta }: Found, { id }) => {
      expect(idsOf(payload)).to.deep.equal([id]);
      expect(meta.count).to.equal(1);
    },
  }),
  sdkRow({
    name: 'contact.create',
    given: async (home) => ({ ...(await newContact(home)), inbox: home.inbox }),
    sends: ({ id, inbox }) => ({ id, data: { inbox_id: inbox, source_id: `source-${id}` } }),
    finds: (found: Found, { id, inbox }) => {
      expect(found.source_id).to.equal(`source-${id}`);
      expect(found.inbox.id).to.equal(inbox);
    },
  }),
  sdkRow({
    name: 'contact.getContactable',
    given: async (home) => ({ ...(await newContact(home)), inbox: home.inbox }),
    sends: ({ id }) => ({ id }),
    finds: ({ payload }: Found, { inbox }) => expect(payload.map((one: Found) => one.inbox.id)).to.include(inbox),
  }),
];

/** Conversations, and what is said in them. */
const conversations = [
  sdkRow({
    name: 'conversations.getMeta',
    given: newConversation,
    sends: ({ inbox }) => ({ inboxId: inbox }),
    finds: ({ meta }: Found) =>
      expect(meta.all_count)
        .to.equal(meta.assigned_count + meta.unassigned_count)
        .and.to.be.greaterThan(0),
  }),
  sdkRow({
    name: 'conversations.list',
    given: async (home) => {
      const { id, labels, maker } = await newLabels(home);
      await maker.call('POST', `conversations/${id}/labels`, { labels });
      return { id, labels, inbox: home.inbox };
    },
    sends: ({ labels, inbox }) => ({ labels, inboxId: inbox }),
    finds: ({ data }: Found, { id }) => {
      expect(idsOf(data.payload)).to.deep.equal([id]);
      expect(data.payload[0].meta.sender.name).to.match(/^Field contact/);
      expect(data.meta).to.include({ all_count: 1, mine_count: 0, unassigned_count: 1 });
    },
  }),
  sdkRow({
    name: 'conversations.create',
    given: async ({ maker, inbox }) => ({ contact: await maker.contact(), inbox, team: await maker.team() }),
    sends: ({ contact, inbox, team }) => ({
      data: {
        inbox_id: String(inbox),
        contact_id: String(contact),
        team_id: String(team),
        assignee_id: '',
        source_id: `chosen-${contact}`,
        status: 'pending',
        custom_attributes: { order: 7 },
      },
    }),
    finds: (found: Found, { inbox, team }) => {
      expect(found).to.deep.include({ account_id: 1, inbox_id: inbox, status: 'pending' });
      expect(found.custom_attributes).to.deep.equal({ order: 7 });
      expect(found.meta.team.id).to.equal(team);
    },
    says: ['conversation_created'],
  }),
  sdkRow({
    name: 'conversations.filter',
    given: newConversation,
    sends: () => ({
      payload: [{ attribute_key: 'status', filter_operator: 'equal_to', values: ['open'] }],
    }),
    finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.include(id),
  }),
  sdkRow({
    name: 'conversations.get',
    given: newConversation,
    sends: ({ id }) => ({ conversationId: id }),
    finds: (found: Found, { id, inbox, contact }) => {
      expect(found).to.include({ id, account_id: 1, inbox_id: inbox, status: 'open' });
      expect(found.meta.sender.id).to.equal(contact);
    },
  }),
  sdkRow({
    name: 'conversations.get#its last message',
    given: newMessage,
    sends: ({ id }) => ({ conversationId: id }),
    finds: ({ messages }: Found, { message }) => {
      expect(idsOf(messages)).to.deep.equal([message]);
      expect(messages[0].message_type).to.equal(1);
    },
    inDefault: {
      because: 'it is `last_message`',
      finds: (found: Found, { message }) => {
        expect(found).not.to.have.property('messages');
        expect(found.last_message).to.include({ id: message, message_type: 'outgoing' });
      },
    },
  }),
  sdkRow({
    name: 'conversations.toggleStatus',
    given: newConversation,
    sends: ({ id }) => ({ conversationId: id, data: { status: 'resolved' } }),
    finds: ({ payload }: Found, { id }) =>
      expect(payload).to.include({ success: true, conversation_id: id, current_status: 'resolved' }),
    says: ['conversation_status_changed'],
  }),
  sdkRow({
    name: 'conversationAssignment.assign',
    given: newConversation,
    sends: ({ id, agent }) => ({ conversationId: id, data: { assignee_id: agent.id } }),
    finds: async (found: Found, { id, agent, maker }) => {
      expect(found).to.include({ id: agent.id, name: 'Ann Agent' });
      expect((await maker.call('GET', `conversations/${id}`)).meta.assignee.id).to.equal(agent.id);
    },
    says: ['conversation_updated'],
    inDefault: {
      because: 'the answer is the conversation',
      finds: (found: Found, { id, agent }) => {
        expect(found.id).to.equal(id);
        expect(found.meta.assignee).to.include({ id: agent.id, name: 'Ann Agent' });
      },
      says: ['conversation_updated'],
    },
  }),
  sdkRow({
    name: 'conversationLabels.list',
    given: newConversation,
    sends: ({ id }) => ({ conversationId: id }),
    finds: ({ payload }: Found) => expect(payload).to.deep.equal([]),
  }),
  sdkRow({
    name: 'conversationLabels.add',
    given: newLabels,
    sends: ({ id, labels }) => ({ conversationId: id, data: { labels } }),
    finds: ({ payload }: Found, { labels }) => expect(payload.toSorted()).to.deep.equal(labels),
    says: ['conversation_updated'],
  }),
  sdkRow({
    name: 'conversationLabels.add#one that nobody made',
    given: newConversation,
    sends: ({ id }) => ({ conversationId: id, data: { labels: [`made-for-${id}`] } }),
    finds: async ({ payload }: Found, { id, maker }) => {
      expect(payload).to.deep.equal([`made-for-${id}`]);
      const { payload: labels } = await maker.call('GET', 'labels');
      expect(labels.map(({ title }: Found) => title)).to.include(`made-for-${id}`);
    },
    says: ['conversation_updated'],
    inDefault: {
      because: 'labels are made before they are used',
      fails: true,
      finds: ({ status, body }: Found, { id }) =>
        expect([status, body.error]).to.deep.equal([422, `There is no label \`made-for-${id}\``]),
    },
  }),
];

/** Messages, which the SDK always sends as forms. */
const messages = [
  sdkRow({
    name: 'messages.list',
    given: newMessage,
    sends: ({ id }) => ({ conversationId: id }),
    finds: ({ payload }: Found, { message }) =>
      expect(payload.at(-1)).to.deep.include({ id: message, message_type: 1, private: false }),
    inDefault: {
      because: '`message_type` is a word',
      finds: ({ payload }: Found, { message }) =>
        expect(payload.at(-1)).to.deep.include({ id: message, message_type: 'outgoing', private: false }),
    },
  }),
  sdkRow({
    name: 'messages.create',
    given: newConversation,
    sends: ({ id }) => ({
      conversationId: id,
      data: {
        content: 'Hello',
        message_type: 'incoming',
        private: false,
        source_id: 'WAID:3EB0',
        content_attributes: { in_reply_to: 7 },
      },
    }),
    finds: (found: Found, { id }) => {
      expect(found.id).to.be.a('number');
      expect(found).to.deep.include({ conversation_id: id, content: 'Hello', private: false, source_id: 'WAID:3EB0' });
      expect(found.content_attributes).to.deep.include({ in_reply_to: 7 });
    },
    says: ['message_created'],
  }),
  sdkRow({
    name: 'messages.create#a file',
    given: newConversation,
    sends: ({ id }) => ({
      conversationId: id,
      data: {
        message_type: 'outgoing',
        attachments: [{ content: pixel.toString('base64'), encoding: 'base64', filename: 'pixel.gif' }],
      },
    }),
    finds: async ({ attachments }: Found) => {
      expect(attachments).to.have.lengthOf(1);
      expect(attachments[0]).to.include({ file_type: 'image', file_size: pixel.length });
      const response = await fetch(attachments[0].data_url);
      expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(pixel);
    },
    says: ['message_created'],
  }),
  sdkRow({
    name: 'messages.create#without its type',
    given: newConversation,
    sends: ({ id }) => ({ conversationId: id, data: { content: 'Hello' } }),
    finds: (found: Found) => expect(found).to.include({ content: 'Hello', message_type: 1 }),
    says: ['message_created'],
    inDefault: {
      because: '`message_type` is required',
      fails: true,
      finds: ({ status, body }: Found) => expect([status, body.details[0].path]).to.deep.equal([422, '/message_type']),
    },
  }),
  sdkRow({
    name: 'messages.update',
    given: newMessage,
    sends: ({ id, message }) => ({ conversationId: id, messageId: message, data: { content: 'Better' } }),
    finds: (found: Found, { message }) => expect(found).to.include({ id: message, content: 'Better' }),
    says: ['message_updated'],
  }),
  sdkRow({
    name: 'messages.delete',
    given: newMessage,
    sends: ({ id, message }) => ({ conversationId: id, messageId: message }),
    finds: async (_, { id, maker }) => {
      const { payload } = await maker.call('GET', `conversations/${id}/messages`);
      expect(payload.at(-1).content_attributes).to.deep.equal({ deleted: true });
    },
    says: ['message_updated', 'message_deleted'],
  }),
];

export const conversationRows = [...contacts, ...conversations, ...messages];
