import { expect } from 'chai';
import { makeClient } from '../support/clients.ts';
import type { FieldHome, Found } from '../support/field-clients.ts';
import { n8nRow } from '../support/field-n8n.ts';

const idsOf = (records: { id: number }[]): number[] => records.map(({ id }) => id);
/** What the node sends where nothing is filled in, and no list of ours takes. */
const blanks = { because: 'blanks and 0 in a query are refused', fails: true } as const;
const refused =
  (status: number, ...paths: string[]) =>
  (error: Found) =>
    expect([error.status, ...new Set(error.body.details.map(({ path }: Found) => path))]).to.deep.equal([
      status,
      ...paths,
    ]);

const newContact = async ({ maker, app, inbox }: FieldHome) => {
  const email = `${maker.text('ada').replaceAll(' ', '.').toLowerCase()}@example.com`;
  const id = await maker.contact({ email, identifier: `crm-${email}` });
  return { id, email, at: { id }, app, inbox, maker };
};

const newConversation = async (home: FieldHome) => {
  const contact = await home.maker.contact();
  const id = await home.maker.conversation(home.inbox, { contact_id: contact });
  return { ...home, id, contact, at: { conversation_id: id } };
};

const newMessage = async (home: FieldHome) => {
  const made = await newConversation(home);
  const message = await home.maker.message(made.id);
  return { ...made, message, at: { conversation_id: made.id, message_id: message } };
};

const newClient = async ({ maker, inbox }: FieldHome) => {
  const client = await makeClient(maker, inbox);
  const { identifier, source, conversation, message } = client;
  return {
    ...client,
    maker,
    at: {
      inbox_identifier: identifier,
      contact_identifier: source,
      conversation_id: conversation,
      message_id: message,
    },
  };
};

const contacts = [
  n8nRow({
    name: 'Contacts: Contact List',
    given: newContact,
    finds: ({ payload }: Found) => expect(payload).not.to.deep.equal([]),
  }),
  n8nRow({
    name: 'Contacts: Contact Create',
    given: ({ inbox }) => ({ inbox, body: { inbox_id: inbox, name: 'Ada' } }),
    finds: ({ payload }: Found, { inbox }) => {
      expect(payload.contact).to.deep.include({ name: 'Ada', custom_attributes: {} });
      expect(payload.contact).to.include({ email: null, phone_number: null, identifier: null });
      expect(payload.contact_inbox.inbox.id).to.equal(inbox);
    },
    says: ['contact_created'],
  }),
  n8nRow({
    name: 'Contacts: Contact Details',
    given: newContact,
    finds: ({ payload }: Found, { id, email }) => expect(payload).to.include({ id, email }),
  }),
  n8nRow({
    name: 'Contacts: Contact Update',
    given: async (home) => ({ ...(await newContact(home)), body: { name: 'Grace' } }),
    finds: ({ payload }: Found, { id, email }) =>
      expect(payload).to.include({ id, name: 'Grace', email, identifier: `crm-${email}` }),
    says: ['contact_updated'],
  }),
  n8nRow({
    name: 'Contacts: Contact Delete',
    given: newContact,
    finds: async (_, { id, app }) => expect((await app.get(`contacts/${id}`)).status).to.equal(404),
    says: ['contact_deleted'],
  }),
  n8nRow({
    name: 'Contacts: Contact Conversations',
    given: async (home) => {
      const { id, contact } = await newConversation(home);
      return { conversation: id, at: { id: contact } };
    },
    finds: ({ payload }: Found, { conversation }) => expect(idsOf(payload)).to.deep.equal([conversation]),
  }),
  n8nRow({
    name: 'Contacts: Contact Search',
    given: async (home) => {
      const made = await newContact(home);
      return { ...made, query: { q: made.email } };
    },
    finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.deep.equal([id]),
  }),
  n8nRow({
    name: 'Contacts: Contact Filter',
    given: async (home) => {
      const made = await newContact(home);
      const condition = { filter_operator: 'equal_to', query_operator: null };
      return { ...made, body: { payload: [{ attribute_key: 'email', values: [made.email], ...condition }] } };
    },
    finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.deep.equal([id]),
    inDefault: { ...blanks, finds: refused(400, '/page') },
  }),
  n8nRow({
    name: 'Contact: Contact Inbox Creation',
    given: async (home) => {
      const made = await newContact(home);
      return { ...made, body: { inbox_id: made.inbox, source_id: made.email } };
    },
    finds: (found: Found, { email, inbox }) => {
      expect(found.source_id).to.equal(email);
      expect(found.inbox.id).to.equal(inbox);
    },
  }),
  n8nRow({
    name: 'Contact: Contact Inbox Creation#without a source id',
    given: async (home) => {
      const made = await newContact(home);
      return { ...made, body: { inbox_id: made.inbox } };
    },
    finds: (found: Found) => expect(found.source_id).to.match(/^[0-9a-f-]{36}$/),
  }),
  n8nRow({
    name: 'Contact: Contactable Inboxes Get',
    given: newContact,
    finds: ({ payload }: Found, { inbox }) => expect(payload.map((one: Found) => one.inbox.id)).to.include(inbox),
  }),
];

const conversations = [
  n8nRow({
    name: 'Conversations: Conversation List Meta',
    given: newConversation,
    finds: ({ meta }: Found) => expect(meta.all_count).to.be.greaterThan(0),
    inDefault: { ...blanks, finds: refused(400, '/inbox_id', '/team_id', '/q') },
  }),
  n8nRow({
    name: 'Conversations: Conversation List Meta#of an inbox',
    given: async (home) => ({ ...(await newConversation(home)), query: { status: 'open', inbox_id: home.inbox } }),
    finds: ({ meta }: Found) => expect(meta.all_count).to.be.greaterThan(0),
    inDefault: { ...blanks, finds: refused(400, '/team_id', '/q') },
  }),
  n8nRow({
    name: 'Conversations: Conversation List',
    given: newConversation,
    finds: ({ data }: Found, { id }) => expect(idsOf(data.payload)).to.include(id),
    inDefault: { ...blanks, finds: refused(400, '/inbox_id', '/team_id', '/q') },
  }),
  n8nRow({
    name: 'Conversations: Conversation List#by a label',
    given: async (home) => {
      const made = await newConversation(home);
      const { title } = await home.maker.label();
      await newConversation(home);
      await home.maker.call('POST', `conversations/${made.id}/labels`, { labels: [title] });
      return { ...made, query: { labels: JSON.stringify([title]) } };
    },
    finds: ({ data }: Found, { id }) => expect(idsOf(data.payload)).to.deep.equal([id]),
    inDefault: { ...blanks, finds: refused(400, '/inbox_id', '/team_id', '/q') },
  }),
  n8nRow({
    name: 'Conversations: New Conversation',
    given: async ({ maker, inbox, agent }) => {
      const contact = await maker.contact();
      const ids = { inbox_id: String(inbox), contact_id: String(contact), assignee_id: String(agent.id) };
      return { inbox, agent, body: { ...ids, source_id: `chosen-${contact}`, message: { content: 'Hello' } } };
    },
    finds: (found: Found, { inbox, agent }) => {
      expect(found).to.deep.include({
        inbox_id: inbox,
        custom_attributes: { attribute_key: 'attribute_value', priority_conversation_number: 3 },
      });
      expect(found.meta.assignee.id).to.equal(agent.id);
    },
    says: ['conversation_created', 'message_created'],
  }),
  n8nRow({
    name: 'Conversations: New Conversation#without a message',
    given: async ({ maker, inbox }) => ({
      inbox,
      body: { inbox_id: String(inbox), contact_id: String(await maker.contact()), source_id: maker.text('chosen') },
    }),
    finds: (found: Found, { inbox }) => expect(found.inbox_id).to.equal(inbox),
    says: ['conversation_created'],
    inDefault: {
      because: 'a first message has words',
      fails: true,
      finds: refused(422, '/message/content'),
    },
  }),
  n8nRow({
    name: 'Conversations: Conversation Filter',
    given: async (home) => {
      const condition = { filter_operator: 'equal_to', query_operator: null };
      const payload = [{ attribute_key: 'status', values: ['open'], ...condition }];
      return { ...(await newConversation(home)), body: { payload } };
    },
    finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.include(id),
    inDefault: { ...blanks, finds: refused(400, '/page') },
  }),
  n8nRow({
    name: 'Conversations: Get Details Of A Conversation',
    given: newConversation,
    finds: (found: Found, { id }) => expect(found.id).to.equal(id),
  }),
  n8nRow({
    name: 'Conversations: Toggle Status Of A Conversation',
    given: async (home) => ({ ...(await newConversation(home)), body: { status: 'pending' } }),
    finds: ({ payload }: Found, { id }) =>
      expect(payload).to.include({ success: true, conversation_id: id, current_status: 'pending' }),
    says: ['conversation_status_changed'],
  }),
  n8nRow({
    name: 'Conversations: Toggle Priority Of A Conversation',
    given: newConversation,
    finds: async (_, { id, app }) => expect((await app.get(`conversations/${id}`)).body.priority).to.equal('urgent'),
    says: ['conversation_updated'],
  }),
  n8nRow({
    name: 'Conversation Assignment: Assign A Conversation',
    given: async (home) => ({ ...(await newConversation(home)), body: { assignee_id: home.agent.id } }),
    finds: async (_, { id, agent, app }) =>
      expect((await app.get(`conversations/${id}`)).body.meta.assignee.id).to.equal(agent.id),
    says: ['conversation_updated'],
    inDefault: {
      because: 'team 0 is no team',
      fails: true,
      finds: refused(422, '/team_id'),
    },
  }),
  n8nRow({
    name: 'Conversation Labels: List All Labels Of A Conversation',
    given: newConversation,
    finds: ({ payload }: Found) => expect(payload).to.deep.equal([]),
  }),
  n8nRow({
    name: 'Conversation Labels: Conversation Add Labels',
    given: async (home) => ({
      ...(await newConversation(home)),
      body: { labels: [(await home.maker.label()).title] },
    }),
    finds: ({ payload }: Found, { body }) => expect(payload).to.deep.equal(body.labels),
    says: ['conversation_updated'],
  }),
  n8nRow({
    name: 'Messages: List All Messages',
    given: newMessage,
    finds: ({ payload }: Found, { message }) => expect(idsOf(payload)).to.include(message),
  }),
  n8nRow({
    name: 'Messages: Create A New Message In A Conversation',
    given: async (home) => ({
      ...(await newConversation(home)),
      body: {
        content: 'Which one?',
        private: false,
        content_type: 'input_select',
        content_attributes: { items: [{ title: 'Yes', value: 'yes' }] },
      },
    }),
    finds: (found: Found, { id }) =>
      expect(found).to.include({ conversation_id: id, content: 'Which one?', content_type: 'input_select' }),
    says: ['message_created'],
  }),
  n8nRow({
    name: 'Messages: Delete A Message',
    given: newMessage,
    finds: async (_, { id, app }) =>
      expect((await app.get(`conversations/${id}/messages`)).body.payload.at(-1).content_attributes).to.deep.equal({
        deleted: true,
      }),
    says: ['message_updated', 'message_deleted'],
  }),
];

const publicApi = [
  n8nRow({
    name: 'Inbox API: Get Details Of A Inbox',
    given: async ({ maker, inbox, identifier }) => ({
      name: (await maker.call('GET', `inboxes/${inbox}`)).name,
      at: { inbox_identifier: identifier },
    }),
    finds: (found: Found, { name }) => expect(found.name).to.equal(name),
  }),
  n8nRow({
    name: 'Contacts API: Create A Contact',
    given: ({ identifier }) => ({ at: { inbox_identifier: identifier }, body: { name: 'Carl' } }),
    finds: (found: Found) => {
      expect(found.name).to.equal('Carl');
      expect(found.source_id).to.be.a('string');
    },
    says: ['contact_created'],
  }),
  n8nRow({
    name: 'Contacts API: Get Details Of A Contact',
    given: newClient,
    finds: (found: Found, { source }) => expect(found.source_id).to.equal(source),
  }),
  n8nRow({
    name: 'Contacts API: Update A Contact',
    given: async (home) => ({ ...(await newClient(home)), body: { name: 'Carla' } }),
    finds: (found: Found) => expect(found.name).to.equal('Carla'),
    says: ['contact_updated'],
  }),
  n8nRow({
    name: 'Conversations API: List All Contact Conversations',
    given: newClient,
    finds: (found: Found, { conversation }) => expect(idsOf(found)).to.deep.equal([conversation]),
  }),
  n8nRow({
    name: 'Conversations API: Create A Conversation',
    given: newClient,
    finds: (found: Found, { conversation }) => expect(found.id).to.be.greaterThan(conversation),
    says: ['conversation_created'],
  }),
  n8nRow({
    name: 'Messages API: List All Converation Messages',
    given: newClient,
    finds: (found: Found, { message }) => expect(idsOf(found)).to.deep.equal([message]),
  }),
  n8nRow({
    name: 'Messages API: Create A Message',
    given: async (home) => ({ ...(await newClient(home)), body: { content: 'Hello' } }),
    finds: (found: Found) => expect(found.content).to.equal('Hello'),
    says: ['message_created'],
  }),
  n8nRow({
    name: 'Messages API: Update A Message',
    given: async (home) => ({
      ...(await newClient(home)),
      body: { submitted_values: [{ title: 'Yes', value: 'yes' }] },
    }),
    finds: (found: Found) =>
      expect(found.content_attributes.submitted_values).to.deep.equal([{ title: 'Yes', value: 'yes' }]),
    says: ['message_updated'],
  }),
];

export const conversationRows = [...contacts, ...conversations, ...publicApi];
