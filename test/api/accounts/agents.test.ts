import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, botHeaders, type User } from '../../support/people.ts';
import { Platform } from '../../support/platform.ts';
import { statuses } from '../../support/statuses.ts';

describe('agents', () => {
  let app: TestApp;
  let ada: User;
  let administratorId: number;
  let inboxId: number;
  let contactId: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    ada = await addPerson(app, { name: 'Ada' });
    administratorId = (await app.get('/api/v1/profile')).body.id;
    inboxId = (await app.get('inboxes')).body.payload[0].id;
    contactId = (await app.post('contacts', { name: 'Customer' })).body.id;
  });

  beforeEach(async () => {
    await app.events();
    // The hourly bound has a test of its own.
    await app.query('DELETE FROM invitations');
  });

  after(() => app.stop());

  async function createAssigned(agent: User): Promise<number> {
    await app.query(
      'INSERT INTO inbox_members (account_id, inbox_id, user_id) VALUES (1, $1, $2) ON CONFLICT DO NOTHING',
      [inboxId, agent.id],
    );
    const { body } = await app.post('conversations', {
      inbox_id: inboxId,
      contact_id: contactId,
      assignee_id: agent.id,
    });
    await app.events();
    return body.id;
  }

  it('names and roles change many at once without a server error', async () => {
    const people = await Promise.all(['Uma', 'Una', 'Ute'].map((name) => addPerson(app, { name })));
    const changes = Array.from({ length: 60 }, (_, index) =>
      app.patch(`agents/${people[index % people.length]!.id}`, {
        name: `Name ${index}`,
        role: index % 2 === 0 ? 'administrator' : 'agent',
      }),
    );
    const answers = await Promise.all(changes);
    expect([...new Set(answers.map(({ status }) => status))]).to.deep.equal([200]);
    for (const { id } of people) await app.delete(`agents/${id}`);
  });

  it('an agent is created with defaults, and listed in a bare array by name', async () => {
    const { status, body } = await app.post('agents', { name: 'Zoe', email: 'zoe@example.com', role: 'agent' });
    expect(status).to.equal(201);
    expect(body).to.include({
      account_id: 1,
      name: 'Zoe',
      email: 'zoe@example.com',
      role: 'agent',
      availability: 'online',
      confirmed: false,
      avatar_url: null,
    });
    // Without a mail server the only account's administrators pass the link on.
    const { invitation_link: link, ...rest } = body;
    expect(link).to.match(/\/invitations\/swi_/);
    expect(JSON.stringify(rest)).not.to.match(/invitation|token|sw[ui]_/);
    const list = await app.get('agents', ada.headers);
    expect(list.body.map((agent: { name: string }) => agent.name)).to.deep.equal(['Ada', 'Administrator', 'Zoe']);
    expect(list.body[0]).to.include({ id: ada.id, confirmed: true });
    expect(await app.eventNames()).to.deep.equal([]);
  });

  const valid = { name: 'Name', email: 'name@example.com', role: 'agent' };
  for (const [path, body] of [
    ['/name', { ...valid, name: undefined }],
    ['/name', { ...valid, name: ' ' }],
    ['/email', { ...valid, email: undefined }],
    ['/email', { ...valid, email: 'no address' }],
    ['/email', { ...valid, email: null }],
    ['/role', { ...valid, role: undefined }],
    ['/role', { ...valid, role: 'owner' }],
    ['/availability', { ...valid, availability: 'away' }],
  ] as const) {
    it(`${JSON.stringify(body)} makes no agent`, async () => {
      const answer = await app.post('agents', body);
      expect(answer.status).to.equal(422);
      expect(answer.body.details[0].path).to.equal(path);
    });
  }

  it('who is an agent already is refused, whatever the case of the address and however many ask at once', async () => {
    const again = await app.post('agents', { ...valid, email: ada.email.toUpperCase() });
    expect(again.status).to.equal(422);
    expect(again.body.details[0]).to.include({ path: '/email', rule: 'unique' });
    const body = { ...valid, email: 'crowd@example.com' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => app.post('agents', body)));
    expect(statuses(answers)).to.deep.equal([201, 422, 422, 422, 422]);
    expect(await app.query(`SELECT FROM seats WHERE email = 'crowd@example.com'`)).to.have.lengthOf(1);
  });

  it('an account sends at most 20 invitations an hour, whether or not the addresses are known elsewhere', async () => {
    const other = await addAccount(app, 'Busy');
    const { headers } = other.administrator;
    const path = `/api/v1/accounts/${other.id}/agents`;
    const create = (n: number) => app.post(path, { ...valid, email: `busy${n}@example.com` }, headers);
    const answers = await Promise.all(Array.from({ length: 21 }, (_, n) => create(n)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 201)).to.have.lengthOf(20);
    expect(refused).to.have.lengthOf(1);
    expect(refused[0]!.body.code).to.equal('rate_limited');
    expect(Number(refused[0]!.headers.get('retry-after'))).to.be.within(3500, 3600);
    // What was refused left nothing behind.
    expect(await app.query(`SELECT FROM seats WHERE email ~ '^busy[0-9]+@'`)).to.have.lengthOf(20);
    const known = await app.post(path, { ...valid, email: ada.email }, headers);
    const mask = { request_id: null };
    expect({ ...known.body, ...mask }).to.deep.equal({ ...refused[0]!.body, ...mask });
    // Removing those who were invited makes no room.
    const [invited] = answers.filter(({ status }) => status === 201);
    await app.delete(`${path}/${invited!.body.id}`, headers);
    expect((await create(99)).status).to.equal(429);
    expect((await app.post('agents', { ...valid, email: 'calm@example.com' })).status).to.equal(201);
    await app.query(`UPDATE invitations SET created_at = created_at - interval '61 minutes'`);
    expect((await create(99)).status).to.equal(201);
  });

  it('an administrator changes name, role and availability', async () => {
    const agent = await addPerson(app, { name: 'Changing' });
    const changes = { name: 'Changed', role: 'administrator', availability: 'busy' };
    const { status, body } = await app.patch(`agents/${agent.id}`, changes);
    expect(status).to.equal(200);
    expect(body).to.include({ id: agent.id, ...changes });
    expect((await app.get('webhooks', agent.headers)).status).to.equal(200);
    expect((await app.patch(`agents/${agent.id}`, { role: 'agent' })).body).to.include({
      role: 'agent',
      name: 'Changed',
    });
    expect((await app.get('webhooks', agent.headers)).status).to.equal(403);
    expect((await app.patch('agents/999999', {})).status).to.equal(404);
    expect((await app.patch(`agents/${agent.id}`, { role: 'owner' })).status).to.equal(422);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('an agent changes the own availability and nothing else; bots nothing', async () => {
    const away = await app.patch(`agents/${ada.id}`, { availability: 'offline' }, ada.headers);
    expect(away.status).to.equal(200);
    expect(away.body.availability).to.equal('offline');
    expect((await app.patch(`agents/${ada.id}`, { role: 'administrator' }, ada.headers)).status).to.equal(403);
    expect((await app.patch(`agents/${ada.id}`, { name: 'Queen' }, ada.headers)).status).to.equal(403);
    expect((await app.patch(`agents/${administratorId}`, { availability: 'busy' }, ada.headers)).status).to.equal(403);
    expect((await app.post('agents', valid, ada.headers)).status).to.equal(403);
    expect((await app.delete(`agents/${ada.id}`, ada.headers)).status).to.equal(403);
    expect((await app.get('agents', await botHeaders(app))).status).to.equal(403);
  });

  it('an agent of another account is not found', async () => {
    const { administrator } = await addAccount(app, 'Third');
    expect((await app.patch(`agents/${administrator.id}`, { availability: 'busy' })).status).to.equal(404);
    expect((await app.delete(`agents/${administrator.id}`)).status).to.equal(404);
    expect((await app.post(`agents/${administrator.id}/resend_invitation`)).status).to.equal(404);
  });

  it('the last administrator stays, even when two would go at once', async () => {
    const { id, administrator } = await addAccount(app, 'Lonely');
    const path = `/api/v1/accounts/${id}/agents`;
    const { headers } = administrator;
    for (const answer of [
      await app.patch(`${path}/${administrator.id}`, { role: 'agent' }, headers),
      await app.delete(`${path}/${administrator.id}`, headers),
    ]) {
      expect(answer.status).to.equal(422);
      expect(answer.body.details[0].rule).to.equal('last_administrator');
    }
    const second = await addPerson(app, { name: 'Second', role: 'administrator', accountId: id });
    const answers = await Promise.all([
      app.patch(`${path}/${administrator.id}`, { role: 'agent' }, headers),
      app.delete(`${path}/${second.id}`, second.headers),
    ]);
    expect(statuses(answers)).to.deep.equal([200, 422]);
    const left = await app.query(`SELECT FROM agents WHERE account_id = $1 AND role = 'administrator'`, [id]);
    expect(left).to.have.lengthOf(1);
  });

  it('a removed agent leaves teams, inboxes and conversations, each of which says so once', async () => {
    const leaver = await addPerson(app, { name: 'Leaver' });
    const conversationId = await createAssigned(leaver);
    const stayingId = await createAssigned(ada);
    const { body: team } = await app.post('teams', { name: 'left' });
    await app.post(`teams/${team.id}/team_members`, { user_ids: [leaver.id] });
    await app.query(`UPDATE conversations SET human_silence = 'human_replied', bot_streak = 3 WHERE id = $1`, [
      conversationId,
    ]);
    const sent = await app.post(
      `conversations/${conversationId}/messages`,
      { content: 'Mine', message_type: 'outgoing' },
      leaver.headers,
    );
    expect(sent.status).to.equal(201);
    await app.events();

    expect(await app.delete(`agents/${leaver.id}`)).to.deep.include({ status: 200, body: {} });
    const events = await app.events();
    expect(events.map((event) => [event.name, event.conversation_id])).to.deep.equal([
      ['conversation_updated', conversationId],
    ]);
    expect(events[0]!.account_payload!.changed_attributes).to.deep.equal({
      assignee_id: { previous: leaver.id, current: null },
    });
    expect((await app.get(`conversations/${conversationId}`)).body.meta.assignee).to.equal(null);
    expect((await app.get(`conversations/${stayingId}`)).body.meta.assignee.id).to.equal(ada.id);
    expect((await app.get(`teams/${team.id}/team_members`)).body).to.deep.equal([]);
    // The bot goes on; what the leaver wrote keeps its author.
    const rows = await app.query('SELECT human_silence, bot_streak FROM conversations WHERE id = $1', [conversationId]);
    expect(rows).to.deep.equal([{ human_silence: null, bot_streak: 0 }]);
    const { body: messages } = await app.get(`conversations/${conversationId}/messages`);
    expect(messages.payload.at(-1).sender).to.deep.equal({ id: leaver.id, name: 'Leaver', type: 'User' });
    // It was the last account: the token is of no use any more.
    expect((await app.get('agents', leaver.headers)).status).to.equal(401);
    expect((await app.delete(`agents/${leaver.id}`)).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('who hands a conversation to people leaves it with them', async () => {
    const leaver = await addPerson(app, { name: 'Second leaver' });
    const conversationId = await createAssigned(leaver);
    await app.query(
      `UPDATE conversations SET bot_silence = 'handed_off', bot_silence_of = $2, bot_streak = 3 WHERE id = $1`,
      [conversationId, (await app.get(`conversations/${conversationId}/agent_bot`)).body.agent_bot.id],
    );
    await app.delete(`agents/${leaver.id}`);
    const rows = await app.query('SELECT bot_silence, bot_streak FROM conversations WHERE id = $1', [conversationId]);
    expect(rows).to.deep.equal([{ bot_silence: 'handed_off', bot_streak: 3 }]);
  });

  it('who works in other accounts keeps the token, for those', async () => {
    const { id, administrator } = await addAccount(app, 'Fourth');
    const { body: agent } = await new Platform(app).join(1, administrator.id);
    expect((await app.get('teams', administrator.headers)).status).to.equal(200);
    await app.delete(`agents/${agent.agent_id}`);
    expect((await app.get('teams', administrator.headers)).status).to.equal(404);
    expect((await app.get(`/api/v1/accounts/${id}/teams`, administrator.headers)).status).to.equal(200);
  });

  it('who comes back after the last account was left is invited like anybody', async () => {
    const returning = await addPerson(app, { name: 'Returning' });
    await app.delete(`agents/${returning.id}`);
    const { body } = await app.post('agents', { ...valid, email: returning.email });
    expect(body).to.include({ name: valid.name, confirmed: false });
    expect(body.id).to.be.above(returning.id);
    expect(await app.query('SELECT FROM invitations WHERE user_id = $1', [body.id])).to.have.lengthOf(1);
    expect((await app.get('agents', returning.headers)).status).to.equal(401);
  });

  it('addresses of who never accepted and was removed are forgotten with their invitations', async () => {
    const invite = (email: string) => app.post('agents', { ...valid, email });
    const [gone, waiting] = [(await invite('gone@example.com')).body.id, (await invite('waiting@example.com')).body.id];
    await app.delete(`agents/${gone}`);
    const left = await addPerson(app, { name: 'Long gone' });
    await app.delete(`agents/${left.id}`);
    const seats = () => app.query('SELECT id FROM seats WHERE id = ANY ($1) ORDER BY id', [[gone, waiting, left.id]]);
    await app.query(`UPDATE seats SET left_at = left_at - interval '29 days'`);
    await invite('next@example.com');
    expect(await seats()).to.have.lengthOf(3);
    await app.query(`UPDATE seats SET left_at = left_at - interval '2 days'`);
    await invite('last@example.com');
    expect(await seats()).to.deep.equal([{ id: waiting }, { id: left.id }]);
    expect(await app.query('SELECT FROM invitations WHERE user_id = $1', [gone])).to.deep.equal([]);
  });

  it('an agent who is assigned conversations while being removed leaves none behind', async () => {
    const leaver = await addPerson(app, { name: 'Contested' });
    await createAssigned(leaver);
    const create = () =>
      app.post('conversations', { inbox_id: inboxId, contact_id: contactId, assignee_id: leaver.id });
    const [removed, ...created] = await Promise.all([app.delete(`agents/${leaver.id}`), create(), create(), create()]);
    expect(removed.status).to.equal(200);
    for (const { status } of created) expect(status).to.be.oneOf([201, 404, 422]);
    expect(await app.query('SELECT FROM conversations WHERE assignee_id = $1', [leaver.id])).to.deep.equal([]);
  });
});
