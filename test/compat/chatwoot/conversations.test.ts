import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { World } from '../../support/world.ts';

describe('Chatwoot profile: conversations', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;
  let id: number;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  beforeEach(async () => {
    id = await world.home.maker.conversation(world.home.inbox, { status: 'open' });
    await world.app.eventNames();
  });

  after(() => world.stop());

  const inDefault = async () => (await world.app.get(`conversations/${id}`)).body;
  const ids = (list: { id: number }[]) => list.map((one) => one.id);

  it('tell their last message as a list, who is not there by no key, and moments as theirs', async () => {
    const bare = await theirs.succeed('GET', `conversations/${id}`);
    expect(bare).to.deep.include({ id, messages: [], last_non_activity_message: null, can_reply: true });
    expect(bare.meta).not.to.have.any.keys('assignee', 'team', 'assignee_type');
    expect(bare.meta.sender).to.include({ type: 'contact' });
    expect(bare.snoozed_until).to.equal(null);
    expect([bare.created_at, bare.timestamp, bare.waiting_since, bare.updated_at]).to.satisfy((all: unknown[]) =>
      all.every((one) => typeof one === 'number'),
    );
    await world.home.maker.message(id, { content: 'Last words' });
    await world.app.post(`conversations/${id}/assignments`, {
      assignee_id: world.home.member.id,
      team_id: world.home.team,
    });
    const full = await theirs.succeed('GET', `conversations/${id}`);
    expect(full.messages).to.have.length(1);
    expect(full.messages[0]).to.deep.include({ content: 'Last words', message_type: 0 });
    expect(full).not.to.have.property('last_message');
    expect(full.meta.assignee).to.deep.include({ id: world.home.member.id, available_name: full.meta.assignee.name });
    expect(full.meta).to.deep.include({ assignee_type: 'User' });
    expect(full.meta.team.id).to.equal(world.home.team);
  });

  it('are listed where they are open, unless something else is asked for', async () => {
    await world.app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
    const list = async (query: string) => ids((await theirs.succeed('GET', `conversations?${query}`)).data.payload);
    expect(await list('')).not.to.include(id);
    expect(await list('status=resolved')).to.include(id);
    expect(await list('status=all')).to.include(id);
    expect(await list('status=&page=0&inbox_id=0&team_id=&q=&sort_by=')).not.to.include(id);
    const counts = await theirs.succeed('GET', 'conversations/meta');
    const open = await world.app.get('conversations/meta?status=open');
    expect(counts).to.deep.equal(open.body);
    const { data } = await theirs.succeed('GET', 'conversations?status=all');
    expect(data.meta).to.include.keys('all_count', 'mine_count', 'unassigned_count', 'assigned_count');
    expect(data.payload[0].messages).to.be.an('array');
  });

  it('are sorted by their names for it, and filtered by labels in all spellings', async () => {
    const { label, inbox } = world.home;
    const second = await world.home.maker.conversation(inbox, { status: 'open' });
    await world.app.post(`conversations/${second}/labels`, { labels: [label.title] });
    const list = async (query: string) => ids((await theirs.succeed('GET', `conversations?${query}`)).data.payload);
    const ordered = (all: number[]) => all.filter((one) => one === id || one === second);
    expect(ordered(await list('sort_by=created_at_asc'))).to.deep.equal([id, second]);
    expect(ordered(await list('sort_by=created_at_desc'))).to.deep.equal([second, id]);
    expect(await list('sort_by=waiting_since_asc')).to.deep.equal(await list(''));
    expect(await list('sort_by=nonsense')).to.deep.equal(await list(''));
    for (const query of [
      `labels=${label.title}`,
      `labels[]=${label.title}`,
      `labels=none-such&labels=${label.title}`,
    ]) {
      expect(ordered(await list(query)), query).to.deep.equal([second]);
    }
  });

  it('begin with ids as text and blanks as inputs send them, once in both words', async () => {
    const { inbox, member, contact } = world.home;
    const body = {
      inbox_id: String(inbox),
      contact_id: String(contact),
      assignee_id: String(member.id),
      team_id: 0,
      source_id: '',
      status: 'pending',
      message: { content: '' },
      custom_attributes: '{"order":"7"}',
      additional_attributes: '',
    };
    const made = await theirs.succeed('POST', 'conversations', body);
    expect(made).to.deep.include({
      inbox_id: inbox,
      status: 'pending',
      custom_attributes: { order: '7' },
      messages: [],
    });
    expect(made.meta.assignee.id).to.equal(member.id);
    expect(await world.app.eventNames()).to.deep.equal(['conversation_created']);
    const said = await theirs.succeed('POST', 'conversations', {
      inbox_id: inbox,
      contact_id: contact,
      message: { content: 'Hi' },
    });
    expect(said.messages[0]).to.deep.include({ content: 'Hi', message_type: 1 });
  });

  it('begin with no ids that only look like some', async () => {
    const { inbox, contact } = world.home;
    for (const bad of ['12x', '1e3', ' 12', '1.0', '+1']) {
      const { status, body } = await theirs.post('conversations', { inbox_id: inbox, contact_id: bad });
      expect([status, body.attributes], bad).to.deep.equal([422, ['contact_id']]);
      const assigned = await theirs.post(`conversations/${id}/assignments`, { assignee_id: bad });
      expect([assigned.status, assigned.body.attributes], bad).to.deep.equal([422, ['assignee_id']]);
    }
    expect(
      (await theirs.post('conversations', { inbox_id: inbox, contact_id: contact, status: 'closed' })).status,
    ).to.equal(422);
    expect(await world.app.eventNames()).to.deep.equal([]);
  });

  it('are toggled without a status, moved with one, and answered as a result', async () => {
    const path = `conversations/${id}/toggle_status`;
    const toggled = await theirs.call('POST', path);
    expect(toggled.status, JSON.stringify(toggled.body)).to.equal(200);
    expect(toggled.body).to.deep.equal({
      meta: {},
      payload: { success: true, current_status: 'resolved', conversation_id: id, snoozed_until: null },
      success: true,
      current_status: 'resolved',
      conversation_id: id,
      snoozed_until: null,
    });
    expect((await world.app.eventNames()).filter((name) => name === 'conversation_status_changed')).to.have.length(1);
    expect((await theirs.succeed('POST', path, {})).current_status).to.equal('open');
    expect((await theirs.succeed('POST', path, { status: 'pending' })).payload.current_status).to.equal('pending');
    expect((await theirs.succeed('POST', path, { status: '' })).current_status).to.equal('open');
    await world.app.eventNames();
    expect((await theirs.succeed('POST', path, { status: 'open' })).current_status).to.equal('open');
    expect(await world.app.eventNames()).to.deep.equal([]);
    const until = Math.floor(Date.now() / 1000) + 3600;
    const snoozed = await theirs.succeed('POST', path, { status: 'snoozed', snoozed_until: until });
    expect(snoozed.payload.snoozed_until).to.equal(new Date(until * 1000).toISOString());
    for (const bad of [{ status: 'closed' }, { status: 'snoozed' }, { status: 1 }]) {
      expect((await theirs.post(path, bad)).status, JSON.stringify(bad)).to.equal(422);
    }
    expect((await inDefault()).status).to.equal('snoozed');
  });

  it('are toggled once under a key, though a toggle means something else the second time', async () => {
    const key = { 'idempotency-key': 'toggle once' };
    const path = `conversations/${id}/toggle_status`;
    const first = await theirs.call('POST', path, undefined, key);
    expect([first.status, first.body.current_status]).to.deep.equal([200, 'resolved']);
    await world.app.eventNames();
    const again = await theirs.call('POST', path, undefined, key);
    expect([again.status, again.body]).to.deep.equal([200, first.body]);
    expect(again.headers.get('idempotency-replayed')).to.equal('true');
    expect((await theirs.post(path, { status: 'open' }, key)).status).to.equal(422);
    expect((await inDefault()).status).to.equal('resolved');
    expect(await world.app.eventNames()).to.deep.equal([]);
  });

  it('are toggled by nobody who may not see them', async () => {
    const path = `conversations/${id}/toggle_status`;
    const outsider = await theirs.call('POST', path, undefined, world.home.outsider.headers);
    expect([outsider.status, outsider.body.error]).to.deep.equal([401, 'You are not authorized to do this action']);
    const stranger = await theirs.call('POST', path, undefined, world.other.administrator.headers);
    expect([stranger.status, stranger.body.error]).to.deep.equal([404, 'Resource could not be found']);
    expect((await inDefault()).status).to.equal('open');
    expect(await world.app.eventNames()).to.deep.equal([]);
  });

  it('are assigned, which answers who has it, both ids in one event', async () => {
    const path = `conversations/${id}/assignments`;
    const { member, team } = world.home;
    const agent = await theirs.succeed('POST', path, { assignee_id: String(member.id), team_id: team });
    expect(agent).to.deep.include({ id: member.id, role: 'agent', account_id: 1, thumbnail: '' });
    expect(agent).to.include.keys('email', 'available_name', 'availability_status');
    expect((await world.app.eventNames()).filter((name) => name === 'conversation_updated')).to.have.length(1);
    expect((await inDefault()).meta).to.deep.include({ team: { id: team, name: (await inDefault()).meta.team.name } });
    expect((await theirs.succeed('POST', path, { assignee_id: member.id, team_id: 0 })).id).to.equal(member.id);
    expect((await inDefault()).meta.team.id).to.equal(team);
    expect(await theirs.succeed('POST', path, { assignee_id: 0 })).to.include({ id: team });
    expect((await inDefault()).meta.assignee).to.equal(null);
    expect(await theirs.succeed('POST', path, { team_id: 0 })).to.equal(null);
    expect((await inDefault()).meta.team).to.equal(null);
  });

  it('are assigned by a bot, which may not read the agents, and to nobody who is not there', async () => {
    const { member, bot, inbox } = world.home;
    const path = `conversations/${await world.home.maker.conversation(inbox)}/assignments`;
    for (const [body, status] of [
      [{ assignee_id: 999_999 }, 404],
      [{ assignee_type: 'AgentBot', assignee_id: 999_999 }, 404],
      [{ assignee_type: 'AgentBot', assignee_id: world.other.bot.id }, 404],
      [{ assignee_type: 'AgentBot', assignee_id: '12x' }, 422],
      [{ assignee_id: world.other.member.id }, 404],
    ] as const) {
      expect((await theirs.post(path, body)).status, JSON.stringify(body)).to.equal(status);
    }
    expect(await theirs.succeed('POST', path, { assignee_id: member.id }, bot.headers)).to.include({ id: member.id });
  });

  it('are given to a bot in place of a person, in one event, and the bot may speak, a second time too', async () => {
    const { member, team, idle, bot } = world.home;
    const path = `conversations/${id}`;
    await world.app.post(`${path}/assignments`, { assignee_id: member.id });
    await world.app.eventNames();
    const wanted = { assignee_type: 'AgentBot', assignee_id: String(idle.id), team_id: team };
    const answer = await theirs.succeed('POST', `${path}/assignments`, wanted);
    expect(answer).to.include({ id: idle.id, type: 'agent_bot' });
    const [event, ...others] = await world.app.events();
    expect([event!.name, others]).to.deep.equal(['conversation_updated', []]);
    expect(event!.account_payload!['changed_attributes']).to.deep.equal({
      assignee_id: { previous: member.id, current: null },
      team_id: { previous: null, current: team },
      agent_bot_id: { previous: null, current: idle.id },
    });
    const serving = async () => (await world.app.get(`${path}/agent_bot`)).body;
    expect(await serving()).to.deep.include({ chosen_by: 'conversation' });
    expect((await serving()).agent_bot.id).to.equal(idle.id);
    const speak = async () => (await theirs.post(`${path}/messages`, { content: 'I am back' }, idle.headers)).status;
    expect(await speak()).to.equal(200);
    await theirs.succeed('POST', `${path}/toggle_status`, { status: 'pending' });
    await theirs.succeed('POST', `${path}/toggle_status`, { status: 'open' }, idle.headers);
    expect(await speak()).to.equal(403);
    await theirs.succeed('POST', `${path}/assignments`, wanted);
    expect(await speak()).to.equal(200);
    const denied = await theirs.post(`${path}/assignments`, wanted, idle.headers);
    expect([denied.status, denied.body.error]).to.deep.equal([
      401,
      'Access to this endpoint is not authorized for bots',
    ]);
    const both = { assignee_id: member.id, agent_bot_id: idle.id };
    expect((await world.app.post(`${path}/assignments`, both)).status).to.equal(422);
    await theirs.succeed('POST', `${path}/assignments`, { assignee_type: 'AgentBot', assignee_id: 0 });
    expect((await serving()).agent_bot.id).to.equal(bot.id);
    expect((await inDefault()).meta.assignee).to.equal(null);
  });

  it('have their attributes replaced, priority set and cleared, and are marked as read', async () => {
    const path = `conversations/${id}`;
    await world.app.patch(path, { custom_attributes: { kept: 1, gone: 2 } });
    await world.app.eventNames();
    const answer = await theirs.succeed('POST', `${path}/custom_attributes`, { custom_attributes: { kept: 3 } });
    expect(answer).to.deep.equal({ custom_attributes: { kept: 3 } });
    expect(await world.app.eventNames()).to.deep.equal(['conversation_updated']);
    expect((await inDefault()).custom_attributes).to.deep.equal({ kept: 3 });
    expect((await theirs.post(`${path}/custom_attributes`, { custom_attributes: 'x' })).status).to.equal(422);
    expect((await theirs.succeed('POST', `${path}/toggle_priority`, { priority: 'high' })).priority).to.equal('high');
    expect((await theirs.succeed('POST', `${path}/toggle_priority`, { priority: '' })).priority).to.equal(null);
    expect((await theirs.succeed('PATCH', path, { priority: 'low' })).priority).to.equal('low');
    expect((await theirs.post(`${path}/toggle_priority`, { priority: 'x' })).status).to.equal(422);
    expect((await theirs.succeed('POST', `${path}/update_last_seen`)).id).to.equal(id);
  });

  it('have their attributes replaced once by a repeated request', async () => {
    const path = `conversations/${id}`;
    const key = { 'idempotency-key': `attributes of ${id}` };
    const first = await theirs.post(`${path}/custom_attributes`, { custom_attributes: { step: 1 } }, key);
    await world.app.patch(path, { custom_attributes: { step: 2 } });
    await world.app.eventNames();
    const again = await theirs.post(`${path}/custom_attributes`, { custom_attributes: { step: 1 } }, key);
    expect([again.status, again.body]).to.deep.equal([first.status, first.body]);
    expect(again.headers.get('idempotency-replayed')).to.equal('true');
    expect((await inDefault()).custom_attributes).to.deep.equal({ step: 2 });
    expect(await world.app.eventNames()).to.deep.equal([]);
    const other = await theirs.post(`${path}/custom_attributes`, { custom_attributes: { step: 3 } }, key);
    expect(other.status).to.equal(422);
  });

  it('are searched and filtered', async () => {
    await world.home.maker.message(id, { content: 'where is my parcel number nine' });
    const { payload, meta } = await theirs.succeed('GET', 'conversations/search?q=parcel number nine&page=');
    expect(ids(payload)).to.deep.equal([id]);
    expect(payload[0].messages[0]).to.include({ message_type: 0 });
    expect(meta).to.include({ count: 1, all_count: 1 });
    const conditions = [
      { attribute_key: 'inbox_id', filter_operator: 'equal_to', values: world.home.inbox, query_operator: '' },
    ];
    const filtered = await theirs.succeed('POST', 'conversations/filter?page=1', { payload: conditions });
    expect(ids(filtered.payload)).to.include(id);
    expect(filtered.payload[0]).to.include.keys('messages', 'timestamp');
    expect((await theirs.post('conversations/filter', { payload: ['x'] })).status).to.equal(422);
    const everything = await theirs.succeed('GET', 'search?q=parcel number nine');
    expect(everything.payload.messages[0]).to.include({ message_type: 0, conversation_id: id });
    expect(everything.payload).to.include.keys('contacts', 'conversations', 'articles');
  });
});
