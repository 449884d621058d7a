import { expect } from 'chai';
import {
  operation,
  playClient,
  type AnyOperation,
  type FieldHome,
  type Found,
  type Operation,
} from '../support/field-clients.ts';
import { decode, type Expected } from '../support/strict-decoder.ts';

const idsOf = (records: { id: number }[]): number[] => records.map(({ id }) => id);

const person = { id: 'int', name: 'text', email: 'text', thumbnail: 'text', availability_status: 'text' } as const;
const contact = {
  id: 'int',
  name: 'text',
  email: 'text',
  phone_number: 'text',
  thumbnail: 'text',
  identifier: 'text',
} as const;
const fullContact = {
  ...contact,
  last_activity_at: 'int',
  created_at: 'int',
  custom_attributes: 'map',
  additional_attributes: 'map',
} as const;
const file = { id: 'int', file_type: 'text', data_url: 'text', thumb_url: 'text', file_size: 'int' } as const;
const message = {
  id: 'int',
  content: 'text',
  content_type: 'text',
  content_attributes: 'map',
  message_type: 'int',
  created_at: 'int',
  private: 'bool',
  source_id: 'text',
  sender: { id: 'int', name: 'text', email: 'text', type: 'text', thumbnail: 'text' },
  attachments: [file],
} as const;
const conversation = {
  id: 'int',
  account_id: 'int',
  inbox_id: 'int',
  status: 'text',
  priority: 'text',
  unread_count: 'int',
  created_at: 'int',
  timestamp: 'int',
  last_activity_at: 'int',
  contact_last_seen_at: 'int',
  agent_last_seen_at: 'int',
  meta: { sender: contact, assignee: person, team: { id: 'int', name: 'text' }, channel: 'text' },
  labels: ['text'],
  additional_attributes: 'map',
  messages: [message],
} as const;
const user = {
  ...person,
  account_id: 'int',
  available_name: 'text',
  avatar_url: 'text',
  display_name: 'text',
  role: 'text',
  ui_settings: 'map',
  uid: 'text',
  type: 'text',
} as const;
const inbox = {
  id: 'int',
  name: 'text',
  channel_type: 'text',
  avatar_url: 'text',
  channel_id: 'int',
  greeting_enabled: 'bool',
  greeting_message: 'text',
} as const;
const counts = { all_count: 'int', assigned_count: 'int', unassigned_count: 'int', mine_count: 'int' } as const;
const label = { id: 'int', title: 'text', description: 'text', color: 'text', show_on_sidebar: 'bool' } as const;
const foundConversation = { id: 'int', account_id: 'int', created_at: 'int' } as const;

/** The official command line: a request, and the decoder that its answer has to pass. */
type GoCli = (request: { method?: string; path: string; body?: object }, expected?: Expected) => Promise<Found>;

function connect({ url, token }: FieldHome): GoCli {
  return async ({ method = 'GET', path, body }, expected) => {
    const full = path.startsWith('/') ? path : `/api/v1/accounts/1/${path}`;
    const response = await fetch(url + full, {
      method,
      headers: { api_access_token: token, 'Content-Type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    if (response.status >= 400) throw new Error(`API error ${response.status}: ${text}`);
    return expected ? decode(JSON.parse(text), expected) : undefined;
  };
}

const row = <Given = FieldHome>(it: Operation<GoCli, Given>): AnyOperation<GoCli> => operation<GoCli, Given>(it);

/** What the decoder says where `message_type` is a word. */
const worded = {
  because: '`message_type` is a word',
  fails: true,
  finds: (error: Error) => expect(error.message).to.match(/message_type is no int: "(?:incoming|outgoing)"$/),
} as const;

const spoken = async (home: FieldHome) => {
  const email = `${home.maker.text('ada').replaceAll(' ', '.').toLowerCase()}@example.com`;
  const contactId = await home.maker.contact({ email });
  const id = await home.maker.conversation(home.inbox, { contact_id: contactId });
  const asked = await home.maker.message(id, { content: 'Where is my order?' });
  return { ...home, id, contactId, email, asked };
};

const table = [
  row({
    name: 'profile',
    call: (cli) => cli({ path: '/api/v1/profile' }, user),
    finds: (found: Found) => expect(found).to.include({ id: 1, account_id: 1, role: 'administrator' }),
  }),
  row({
    name: 'conversations list',
    given: spoken,
    call: (cli, { inbox: inboxId }) =>
      cli(
        { path: `conversations?status=open&inbox_id=${inboxId}&assignee_type=unassigned&page=1` },
        { data: { meta: counts, payload: [conversation] } },
      ),
    finds: ({ data }: Found, { id, asked, email }) => {
      expect(data.payload[0].id).to.equal(id);
      expect(data.payload[0].meta.sender.email).to.equal(email);
      expect(idsOf(data.payload[0].messages)).to.deep.equal([asked]);
      expect(data.meta.unassigned_count).to.be.greaterThan(0);
    },
    inDefault: {
      because: 'the last message is `last_message`',
      finds: ({ data }: Found, { id }) => {
        expect(data.payload[0].id).to.equal(id);
        expect(data.payload[0].messages).to.deep.equal([]);
      },
    },
  }),
  row({
    name: 'conversations get',
    given: spoken,
    call: (cli, { id }) => cli({ path: `conversations/${id}` }, conversation),
    finds: (found: Found, { id, asked }) => {
      expect(found).to.include({
        id,
        account_id: 1,
        status: 'open',
        unread_count: 1,
        timestamp: found.last_activity_at,
      });
      expect(idsOf(found.messages)).to.deep.equal([asked]);
    },
    inDefault: {
      because: 'the last message is `last_message`',
      finds: (found: Found, { id }) => expect(found).to.deep.include({ id, messages: [], timestamp: 0 }),
    },
  }),
  row({
    name: 'conversations toggle_status',
    given: spoken,
    call: (cli, { id }) =>
      cli(
        { method: 'POST', path: `conversations/${id}/toggle_status`, body: { status: 'resolved' } },
        { payload: { success: 'bool', current_status: 'text', conversation_id: 'int' } },
      ),
    finds: ({ payload }: Found, { id }) =>
      expect(payload).to.deep.equal({ success: true, current_status: 'resolved', conversation_id: id }),
    says: ['conversation_status_changed'],
  }),
  row({
    name: 'conversations assign',
    given: spoken,
    call: (cli, { id, agent }) =>
      cli({ method: 'POST', path: `conversations/${id}/assignments`, body: { assignee_id: agent.id } }, user),
    finds: (found: Found, { agent }) =>
      expect(found).to.include({ id: agent.id, name: 'Ann Agent', available_name: 'Ann Agent', role: 'agent' }),
    says: ['conversation_updated'],
    inDefault: {
      because: 'the answer is the conversation',
      finds: (found: Found, { id }) => expect(found).to.include({ id, name: '' }),
      says: ['conversation_updated'],
    },
  }),
  row({
    name: 'conversations unassign',
    given: async (home) => {
      const { id } = await spoken(home);
      await home.maker.call('POST', `conversations/${id}/assignments`, { assignee_id: home.agent.id });
      return { ...home, id };
    },
    call: (cli, { id }) => cli({ method: 'POST', path: `conversations/${id}/assignments`, body: { assignee_id: 0 } }),
    finds: async (_, { id, app }) => expect((await app.get(`conversations/${id}`)).body.meta.assignee).to.equal(null),
    says: ['conversation_updated'],
  }),
  row({
    name: 'conversations priority',
    given: spoken,
    call: (cli, { id }) =>
      cli({ method: 'POST', path: `conversations/${id}/toggle_priority`, body: { priority: 'high' } }),
    finds: async (_, { id, app }) => expect((await app.get(`conversations/${id}`)).body.priority).to.equal('high'),
    says: ['conversation_updated'],
  }),
  row({
    name: 'messages list',
    given: spoken,
    call: (cli, { id }) => cli({ path: `conversations/${id}/messages` }, { meta: 'map', payload: [message] }),
    finds: ({ payload }: Found, { asked, contactId }) => {
      expect(idsOf(payload)).to.deep.equal([asked]);
      expect(payload[0]).to.deep.include({ message_type: 0, content: 'Where is my order?' });
      expect(payload[0].sender).to.include({ id: contactId, type: 'contact' });
    },
    inDefault: worded,
  }),
  row({
    name: 'messages list, before a message',
    given: async (home) => {
      const made = await spoken(home);
      return { ...made, second: await home.maker.message(made.id), third: await home.maker.message(made.id) };
    },
    call: (cli, { id, third }) =>
      cli({ path: `conversations/${id}/messages?before=${third}` }, { meta: 'map', payload: [message] }),
    finds: ({ payload }: Found, { asked, second }) => expect(idsOf(payload)).to.deep.equal([asked, second]),
    inDefault: {
      because: '`before` is a moment',
      finds: ({ payload }: Found) => expect(payload).to.deep.equal([]),
    },
  }),
  row({
    name: 'messages create',
    given: spoken,
    call: (cli, { id }) =>
      cli(
        {
          method: 'POST',
          path: `conversations/${id}/messages`,
          body: { content: 'It is coming', message_type: 'outgoing' },
        },
        message,
      ),
    finds: (found: Found) => {
      expect(found).to.deep.include({ content: 'It is coming', message_type: 1, private: false, attachments: [] });
      expect(found.sender).to.include({ name: 'Administrator', type: 'user' });
    },
    says: ['message_created'],
    inDefault: { ...worded, says: ['message_created'] },
  }),
  row({
    name: 'messages delete',
    given: spoken,
    call: (cli, { id, asked }) => cli({ method: 'DELETE', path: `conversations/${id}/messages/${asked}` }),
    finds: () => undefined,
    says: ['message_updated', 'message_deleted'],
  }),
  row({
    name: 'contacts list',
    given: spoken,
    call: (cli) => cli({ path: 'contacts?page=1&sort=-created_at' }, { meta: 'map', payload: [fullContact] }),
    finds: ({ payload }: Found, { contactId }) => expect(idsOf(payload)).to.include(contactId),
  }),
  row({
    name: 'contacts get',
    given: spoken,
    call: (cli, { contactId }) => cli({ path: `contacts/${contactId}` }, { payload: fullContact }),
    finds: ({ payload }: Found, { contactId, email }) => expect(payload).to.include({ id: contactId, email }),
  }),
  row({
    name: 'contacts search',
    given: spoken,
    call: (cli, { email }) =>
      cli({ path: `contacts/search?q=${encodeURIComponent(email)}` }, { meta: 'map', payload: [fullContact] }),
    finds: ({ payload }: Found, { contactId }) => expect(idsOf(payload)).to.deep.equal([contactId]),
  }),
  row({
    name: 'contacts conversations',
    given: spoken,
    call: (cli, { contactId }) => cli({ path: `contacts/${contactId}/conversations` }, { payload: [conversation] }),
    finds: ({ payload }: Found, { id, asked }) => {
      expect(idsOf(payload)).to.deep.equal([id]);
      expect(idsOf(payload[0].messages)).to.deep.equal([asked]);
    },
    inDefault: {
      because: 'the last message is `last_message`',
      finds: ({ payload }: Found, { id }) => expect(payload[0]).to.deep.include({ id, messages: [] }),
    },
  }),
  row({
    name: 'inboxes list and get',
    call: async (cli, { inbox: id }) => [
      await cli({ path: 'inboxes' }, { payload: [inbox] }),
      await cli({ path: `inboxes/${id}` }, inbox),
    ],
    finds: ([listed, found]: Found, { inbox: id }) => {
      expect(idsOf(listed.payload)).to.include(id);
      expect(found).to.include({ id, channel_type: 'Channel::Api' });
    },
  }),
  row({
    name: 'agents list',
    call: (cli) => cli({ path: 'agents' }, [{ ...person, role: 'text', account_id: 'int' }]),
    finds: (found: Found, { agent }) => {
      expect(found.find(({ id }: Found) => id === agent.id)).to.include({
        name: 'Ann Agent',
        role: 'agent',
        account_id: 1,
      });
    },
  }),
  row({
    name: 'teams list',
    given: async ({ maker }) => ({ team: await maker.team() }),
    call: (cli) => cli({ path: 'teams' }, [{ id: 'int', name: 'text' }]),
    finds: (found: Found, { team }) => expect(idsOf(found)).to.include(team),
  }),
  row({
    name: 'labels of a conversation, list and add',
    given: async (home) => ({ ...(await spoken(home)), title: (await home.maker.label()).title }),
    call: async (cli, { id, title }) => {
      const path = `conversations/${id}/labels`;
      const added = await cli({ method: 'POST', path, body: { labels: [title] } }, { payload: ['text'] });
      return [added, await cli({ path }, { payload: ['text'] })];
    },
    finds: (answers: Found, { title }) => {
      for (const { payload } of answers) expect(payload).to.deep.equal([title]);
    },
    says: ['conversation_updated'],
  }),
  row({
    name: 'labels of the account',
    given: async ({ maker }) => maker.label(),
    call: (cli) => cli({ path: 'labels' }, { payload: [label] }),
    finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.include(id),
  }),
  row({
    name: 'search',
    given: spoken,
    call: (cli, { email }) =>
      cli(
        { path: `search?q=${encodeURIComponent(email)}` },
        { payload: { conversations: [foundConversation], contacts: [contact], messages: [message] } },
      ),
    finds: ({ payload }: Found, { id, contactId }) => {
      expect(idsOf(payload.contacts)).to.deep.equal([contactId]);
      expect(idsOf(payload.conversations)).to.deep.equal([id]);
    },
  }),
];

// Its decoders are written after the source of the command line, which is in Go.
playClient('The official command line', table, connect);
