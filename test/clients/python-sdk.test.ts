import { expect } from 'chai';
import { playFlow, type FieldHome, type Found, type Step } from '../support/field-clients.ts';

const idsOf = (records: { id: number }[]): number[] => records.map(({ id }) => id);
const isObject = (value: Found): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What the SDK hands on of an answer: what is in `data.payload` or `payload`, where an answer has either. */
function unwrap(answer: Found): Found {
  if (!isObject(answer)) return answer;
  if (isObject(answer.data) && 'payload' in answer.data) return answer.data.payload;
  return 'payload' in answer ? answer.payload : answer;
}

/** The fields that its model of a contact's inbox requires; it raises without one of them. */
function expectModel(place: Found): void {
  expect(place.source_id).to.be.a('string');
  expect(place.inbox.channel_id).to.be.a('number');
  for (const field of ['id', 'avatar_url', 'name', 'channel_type', 'provider'])
    expect(place.inbox).to.have.property(field);
}

/** The SDK's way to call: by its header, with what is unwrapped. */
class Sdk {
  readonly #url: string;
  readonly #token: string;

  constructor({ url, token }: FieldHome) {
    this.#url = url;
    this.#token = token;
  }

  async call(method: string, path: string, body?: object): Promise<Found> {
    const full = path.startsWith('/') ? path : `/api/v1/accounts/1/${path}`;
    const response = await fetch(this.#url + full, {
      method,
      headers: { api_access_token: this.#token, accept: 'application/json', 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    expect(response.status, `${method} ${path}: ${text}`).to.be.within(200, 299);
    return text === '' ? undefined : unwrap(JSON.parse(text));
  }
}

/** What a step leaves for those after it. */
interface Made {
  profile: Found;
  agent: number;
  team: number;
  contact: number;
  source: string;
  conversation: number;
  message: number;
}

/** Creates the flow's contact; returns the places that the answer names. */
async function createContact(sdk: Sdk, made: Made, { inbox }: FieldHome): Promise<Found[]> {
  const contact = { inbox_id: inbox, name: 'Smoke Test', email: 'smoke@example.com', identifier: 'smoke-1' };
  const { contact: record, contact_inbox: place } = await sdk.call('POST', 'contacts', contact);
  expect(record).to.include({ name: 'Smoke Test', email: 'smoke@example.com', identifier: 'smoke-1' });
  expect(place.source_id).to.be.a('string');
  made.contact = record.id;
  made.source = place.source_id;
  return [place, ...(record.contact_inboxes ?? [])];
}

/** The flow by which the official Python SDK is tried against a service, in its order. */
const flow: Step<Sdk, Made>[] = [
  {
    name: 'profile',
    play: async (sdk, made) => {
      made.profile = await sdk.call('GET', '/api/v1/profile');
      expect(made.profile).to.include({ id: 1, name: 'Administrator' });
      expect(idsOf(made.profile.accounts)).to.deep.equal([1]);
    },
  },
  {
    name: 'agents.list',
    play: async (sdk, made, home) => {
      const agents = await sdk.call('GET', 'agents');
      expect(idsOf(agents)).to.have.members([1, home.agent.id]);
      made.agent = home.agent.id;
    },
  },
  {
    name: 'inboxes.get',
    play: async (sdk, _, { inbox }) =>
      expect(await sdk.call('GET', `inboxes/${inbox}`)).to.include({ id: inbox, channel_type: 'Channel::Api' }),
  },
  {
    name: 'inboxes.members',
    play: async (sdk, { agent }, { inbox }) =>
      expect(idsOf(await sdk.call('GET', `inbox_members/${inbox}`))).to.deep.equal([agent]),
  },
  {
    name: 'teams.create',
    play: async (sdk, made) => {
      const team = await sdk.call('POST', 'teams', { name: 'smoke', description: 'For a test' });
      expect(team).to.include({ name: 'smoke', description: 'For a test' });
      made.team = team.id;
    },
  },
  {
    name: 'teams.get, list and update',
    play: async (sdk, { team }) => {
      expect(await sdk.call('GET', `teams/${team}`)).to.include({ id: team, name: 'smoke' });
      expect(idsOf(await sdk.call('GET', 'teams'))).to.deep.equal([team]);
      const changed = await sdk.call('PATCH', `teams/${team}`, { description: 'Renamed' });
      expect(changed).to.include({ id: team, description: 'Renamed' });
    },
  },
  {
    name: 'teams.members: add, list, update, remove',
    play: async (sdk, { team, agent }) => {
      const path = `teams/${team}/team_members`;
      expect(idsOf(await sdk.call('POST', path, { user_ids: [agent] }))).to.deep.equal([agent]);
      expect(idsOf(await sdk.call('GET', path))).to.deep.equal([agent]);
      expect(idsOf(await sdk.call('PATCH', path, { user_ids: [agent, 1] }))).to.have.members([agent, 1]);
      await sdk.call('DELETE', path, { user_ids: [1] });
      expect(idsOf(await sdk.call('GET', path))).to.deep.equal([agent]);
    },
  },
  {
    name: 'contacts.create',
    says: ['contact_created'],
    play: async (sdk, made, home) => {
      for (const place of await createContact(sdk, made, home)) expectModel(place);
    },
    inDefault: {
      because: 'the inbox of a contact has no `channel_id`: it is its own channel',
      says: ['contact_created'],
      play: async (sdk, made, home) => {
        for (const { inbox } of await createContact(sdk, made, home)) expect(inbox).not.to.have.property('channel_id');
      },
    },
  },
  {
    name: 'contacts.get, search and list',
    play: async (sdk, { contact }) => {
      expect(await sdk.call('GET', `contacts/${contact}`)).to.include({ id: contact, name: 'Smoke Test' });
      expect(idsOf(await sdk.call('GET', 'contacts/search?q=smoke%40example.com'))).to.deep.equal([contact]);
      expect(idsOf(await sdk.call('GET', 'contacts?page=1&sort=-created_at'))).to.include(contact);
    },
  },
  {
    name: 'contacts.update',
    says: ['contact_updated'],
    play: async (sdk, { contact }) =>
      expect(await sdk.call('PUT', `contacts/${contact}`, { name: 'Smoke Tested' })).to.include({
        id: contact,
        name: 'Smoke Tested',
        identifier: 'smoke-1',
      }),
  },
  {
    name: 'contacts.labels: add and list',
    says: ['contact_updated'],
    play: async (sdk, { contact }, { maker }) => {
      const { title } = await maker.label();
      const path = `contacts/${contact}/labels`;
      expect(await sdk.call('POST', path, { labels: [title] })).to.deep.equal([title]);
      expect(await sdk.call('GET', path)).to.deep.equal([title]);
    },
  },
  {
    name: 'contacts.contactable_inboxes',
    play: async (sdk, { contact, source }, { inbox }) => {
      const places = await sdk.call('GET', `contacts/${contact}/contactable_inboxes`);
      expect(places.find((one: Found) => one.inbox.id === inbox)?.source_id).to.equal(source);
    },
  },
  {
    name: 'conversations.create',
    says: ['conversation_created'],
    play: async (sdk, made, { inbox }) => {
      const opened = await sdk.call('POST', 'conversations', { source_id: made.source, inbox_id: inbox });
      expect(opened).to.include({ inbox_id: inbox, status: 'open' });
      expect(opened.meta.sender.id).to.equal(made.contact);
      made.conversation = opened.id;
    },
  },
  {
    name: 'conversations.get',
    play: async (sdk, { conversation, contact }) => {
      const found = await sdk.call('GET', `conversations/${conversation}`);
      expect(found.id).to.equal(conversation);
      expect(found.meta.sender).to.include({ id: contact, email: 'smoke@example.com' });
    },
  },
  {
    name: 'conversations.update priority',
    says: ['conversation_updated'],
    play: async (sdk, { conversation }) => {
      await sdk.call('PATCH', `conversations/${conversation}`, { priority: 'high' });
      expect((await sdk.call('GET', `conversations/${conversation}`)).priority).to.equal('high');
    },
  },
  {
    name: 'conversations.toggle_priority',
    says: ['conversation_updated'],
    play: async (sdk, { conversation }) => {
      await sdk.call('POST', `conversations/${conversation}/toggle_priority`, { priority: 'urgent' });
      expect((await sdk.call('GET', `conversations/${conversation}`)).priority).to.equal('urgent');
    },
  },
  {
    name: 'conversations.assign',
    says: ['conversation_updated'],
    play: async (sdk, { conversation, agent }) => {
      await sdk.call('POST', `conversations/${conversation}/assignments`, { assignee_id: agent });
      expect((await sdk.call('GET', `conversations/${conversation}`)).meta.assignee.id).to.equal(agent);
    },
  },
  {
    name: 'conversations.list and meta',
    play: async (sdk, { conversation }, { inbox }) => {
      const query = `inbox_id=${inbox}&status=open&assignee_type=assigned`;
      expect(idsOf(await sdk.call('GET', `conversations?${query}`))).to.deep.equal([conversation]);
      const { meta } = await sdk.call('GET', `conversations/meta?inbox_id=${inbox}&status=open`);
      expect(meta).to.include({ all_count: 1, assigned_count: 1, unassigned_count: 0, mine_count: 0 });
    },
  },
  {
    name: 'conversations.toggle_status',
    says: ['conversation_status_changed', 'conversation_status_changed'],
    play: async (sdk, { conversation }) => {
      for (const status of ['resolved', 'open']) {
        const told = await sdk.call('POST', `conversations/${conversation}/toggle_status`, { status });
        expect(told).to.include({ success: true, conversation_id: conversation, current_status: status });
      }
    },
  },
  {
    name: 'conversations.labels: add and list',
    says: ['conversation_updated'],
    play: async (sdk, { conversation }, { maker }) => {
      const { title } = await maker.label();
      const path = `conversations/${conversation}/labels`;
      expect(await sdk.call('POST', path, { labels: [title] })).to.deep.equal([title]);
      expect(await sdk.call('GET', path)).to.deep.equal([title]);
    },
  },
  {
    name: 'messages.create and list',
    says: ['message_created', 'message_created'],
    play: async (sdk, made) => {
      const path = `conversations/${made.conversation}/messages`;
      const said = await sdk.call('POST', path, { content: 'Smoke', message_type: 'outgoing' });
      expect(said).to.include({ content: 'Smoke', private: false });
      const note = await sdk.call('POST', path, { content: 'A note', message_type: 'outgoing', private: true });
      expect(note).to.include({ content: 'A note', private: true });
      expect(idsOf(await sdk.call('GET', path)).slice(-2)).to.deep.equal([said.id, note.id]);
    },
  },
  {
    name: 'teams.delete',
    play: async (sdk, { team }) => {
      await sdk.call('DELETE', `teams/${team}`);
      expect(await sdk.call('GET', 'teams')).to.deep.equal([]);
    },
  },
];

playFlow('The smoke flow of the Python SDK', flow, (home) => new Sdk(home));
