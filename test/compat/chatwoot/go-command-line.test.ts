import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { findUndecodable, type GoStruct, type GoType } from '../../support/go-decoder.ts';
import { World } from '../../support/world.ts';

// The structs of the official command line (chatwoot/cli, internal/sdk).
const anything: GoType = { map: 'any' };
const listOf = (struct: GoStruct): GoType => ({ list: { struct } });
const person: GoStruct = {
  id: 'int',
  name: 'string',
  email: 'string',
  phone_number: 'string',
  thumbnail: 'string',
  identifier: 'string',
  availability_status: 'string',
};
const attachment: GoStruct = {
  id: 'int',
  file_type: 'string',
  data_url: 'string',
  thumb_url: 'string',
  file_size: 'int',
};
const message: GoStruct = {
  id: 'int',
  content: 'string',
  content_type: 'string',
  content_attributes: anything,
  message_type: 'int',
  status: 'string',
  created_at: 'int',
  private: 'bool',
  source_id: 'string',
  sender: { struct: { ...person, type: 'string', available_status: 'string' } },
  attachments: listOf(attachment),
  conversation: { struct: { id: 'int', unread_count: 'int', last_activity_at: 'int' } },
};
const conversation: GoStruct = {
  id: 'int',
  account_id: 'int',
  inbox_id: 'int',
  status: 'string',
  priority: 'string',
  messages_count: 'int',
  unread_count: 'int',
  created_at: 'int',
  timestamp: 'int',
  last_activity_at: 'int',
  contact_last_seen_at: 'int',
  agent_last_seen_at: 'int',
  meta: {
    struct: { sender: { struct: person }, assignee: { struct: person }, team: { struct: person }, channel: 'string' },
  },
  labels: { list: 'string' },
  additional_attributes: anything,
  messages: listOf(message),
};
const contact: GoStruct = {
  ...person,
  company_name: 'string',
  last_activity_at: 'int',
  created_at: 'int',
  conversations_count: 'int',
  custom_attributes: anything,
  additional_attributes: anything,
};
const agent: GoStruct = { ...person, role: 'string', account_id: 'int' };
const inbox: GoStruct = {
  id: 'int',
  name: 'string',
  channel_type: 'string',
  avatar_url: 'string',
  channel_id: 'int',
  greeting_enabled: 'bool',
  greeting_message: 'string',
};
const counts: GoStruct = { all_count: 'int', assigned_count: 'int', unassigned_count: 'int', mine_count: 'int' };
const messages: GoType = { struct: { meta: anything, payload: listOf(message) } };
const contacts: GoType = { struct: { meta: anything, payload: listOf(contact) } };
const titles: GoType = { struct: { payload: { list: 'string' } } };
const moved: GoType = { struct: { success: 'bool', current_status: 'string', conversation_id: 'int' } };
const conversations: GoType = {
  struct: { data: { struct: { meta: { struct: counts }, payload: listOf(conversation) } } },
};

describe('Chatwoot profile: the Go command line', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  after(() => world.stop());

  async function decode(type: GoType, method: string, path: string, body?: object) {
    const answer = await theirs.succeed(method, path, body);
    expect(findUndecodable(answer, type), `${method} ${path}`).to.deep.equal([]);
    return answer;
  }

  it('can decode every answer that it reads, of full and of empty records', async () => {
    const { home } = world;
    const id = await home.maker.conversation(home.inbox, { status: 'open' });
    await home.maker.message(id);
    const path = `conversations/${id}`;
    const profile = await decode({ struct: { ...agent, ui_settings: anything } }, 'GET', '/api/v1/profile');
    await decode({ struct: conversation }, 'GET', path);
    const assigned = await decode({ struct: conversation }, 'POST', `${path}/assignments`, { assignee_id: profile.id });
    expect(assigned.id).to.equal(profile.id);
    await decode({ struct: conversation }, 'POST', `${path}/assignments`, { assignee_id: 0, team_id: home.team });
    await decode({ struct: conversation }, 'POST', `${path}/assignments`, { assignee_id: home.member.id });
    await decode({ struct: conversation }, 'GET', path);
    const filters = `status=open&inbox_id=${home.inbox}&assignee_type=all&page=1&sort_by=last_activity_at_desc`;
    const { data } = await decode(conversations, 'GET', `conversations?${filters}`);
    const [listed] = data.payload.filter((one: { id: number }) => one.id === id);
    expect(listed.messages[0].message_type).to.equal(0);
    expect(await decode(moved, 'POST', `${path}/toggle_status`, { status: 'resolved' })).to.include({
      success: true,
      current_status: 'resolved',
      conversation_id: id,
    });
    const snoozed_until = Math.floor(Date.now() / 1000) + 3600;
    await decode(moved, 'POST', `${path}/toggle_status`, { status: 'snoozed', snoozed_until });
    await decode({ struct: conversation }, 'GET', path);
  });

  it('reads and writes messages, contacts and labels', async () => {
    const { home } = world;
    const path = `conversations/${await home.maker.conversation(home.inbox)}`;
    const sent = await decode({ struct: message }, 'POST', `${path}/messages`, {
      content: 'Hi',
      message_type: 'outgoing',
    });
    const note = await decode({ struct: message }, 'POST', `${path}/messages`, {
      content: 'Note',
      message_type: 'outgoing',
      private: true,
    });
    const { payload: older } = await decode(messages, 'GET', `${path}/messages?before=${note.id}`);
    expect(older.map((one: { id: number }) => one.id)).to.deep.equal([sent.id]);
    expect((await theirs.call('DELETE', `${path}/messages/${note.id}`)).status).to.equal(200);
    await decode(messages, 'GET', `${path}/messages`);
    await decode(titles, 'POST', `${path}/labels`, { labels: ['from-go'] });
    expect((await decode(titles, 'GET', `${path}/labels`)).payload).to.deep.equal(['from-go']);
    await decode(contacts, 'GET', 'contacts?page=1');
    await decode(contacts, 'GET', 'contacts/search?q=Alpha&page=1');
    const single = await decode({ struct: { payload: { struct: contact } } }, 'GET', `contacts/${home.contact}`);
    expect(single.payload.id).to.equal(home.contact);
  });

  it('lists inboxes, agents and teams', async () => {
    const { home } = world;
    expect((await decode({ struct: { payload: listOf(inbox) } }, 'GET', 'inboxes')).payload).not.to.deep.equal([]);
    expect((await decode({ struct: inbox }, 'GET', `inboxes/${home.inbox}`)).id).to.equal(home.inbox);
    expect(await decode(listOf(agent), 'GET', 'agents')).not.to.deep.equal([]);
    const team: GoStruct = { id: 'int', name: 'string', description: 'string', account_id: 'int' };
    expect(await decode(listOf(team), 'GET', 'teams')).not.to.deep.equal([]);
  });

  it('could not decode our own answers: the decoder of this test tells', async () => {
    const { body } = await world.app.get(`conversations/${world.home.conversation}/messages`);
    expect(findUndecodable(body, messages).join()).to.include('.message_type is no int');
    expect(findUndecodable([], { struct: {} })).to.deep.equal(['$ is no object: []']);
    expect(findUndecodable({ a: 1.5 }, { struct: { a: 'int' } })).to.have.length(1);
  });
});
