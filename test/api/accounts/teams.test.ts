import { expect } from 'chai';
import { Client } from 'pg';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, botHeaders, type User } from '../../support/people.ts';
import { statuses } from '../../support/statuses.ts';

describe('teams', () => {
  let app: TestApp;
  let ada: User;
  let bob: User;
  let contactId: number;
  let inboxId: number;

  const memberIds = (answer: { body: { id: number }[] }) => answer.body.map(({ id }) => id);

  before(async () => {
    app = await TestApp.start({ engine: false });
    ada = await addPerson(app, { name: 'Ada' });
    bob = await addPerson(app, { name: 'Bob' });
    contactId = (await app.post('contacts', { name: 'Customer' })).body.id;
    inboxId = (await app.get('inboxes')).body.payload[0].id;
  });

  beforeEach(async () => void (await app.events()));

  after(() => app.stop());

  it('a team is created with defaults, read and listed in a bare array by name', async () => {
    const { status, body } = await app.post('teams', { name: 'support' });
    expect(status).to.equal(201);
    expect(body).to.include({ account_id: 1, name: 'support', description: null, allow_auto_assign: true });
    const sales = { name: 'sales', description: 'Sell', allow_auto_assign: false };
    expect((await app.post('teams', sales)).body).to.include(sales);
    expect((await app.get(`teams/${body.id}`, ada.headers)).body).to.deep.equal(body);
    const list = await app.get('teams', ada.headers);
    expect(list.body.map((team: { name: string }) => team.name)).to.deep.equal(['sales', 'support']);
    expect((await app.get('teams/999999')).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  for (const body of [{}, { name: '' }, { name: ' ' }, { name: 7 }, { name: 'x'.repeat(256) }]) {
    it(`${JSON.stringify(body).slice(0, 20)} makes no team`, async () => {
      const answer = await app.post('teams', body);
      expect(answer.status).to.equal(422);
      expect(answer.body.details[0].path).to.equal('/name');
    });
  }

  it('a name is unique: of many who come at once, one wins', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => app.post('teams', { name: 'once' })));
    expect(statuses(answers)).to.deep.equal([201, 422, 422, 422, 422]);
    const { body } = await app.post('teams', { name: 'other' });
    const renamed = await app.patch(`teams/${body.id}`, { name: 'once' });
    expect(renamed.status).to.equal(422);
    expect(renamed.body.details[0]).to.include({ path: '/name', rule: 'unique' });
  });

  it('only administrators write, and bots do not read', async () => {
    const { body } = await app.post('teams', { name: 'guarded' });
    const writes = [
      ['POST', 'teams'],
      ['PATCH', `teams/${body.id}`],
      ['DELETE', `teams/${body.id}`],
    ];
    for (const method of ['POST', 'PATCH', 'DELETE']) writes.push([method, `teams/${body.id}/team_members`]);
    for (const [method, path] of writes) {
      const { status } = await app.call(method!, path!, { name: 'other', user_ids: [] }, ada.headers);
      expect(status, `${method} ${path}`).to.equal(403);
    }
    expect((await app.get('teams', await botHeaders(app))).status).to.equal(403);
  });

  it('a change is kept, without an event', async () => {
    const { body: created } = await app.post('teams', { name: 'changing', description: 'Before' });
    const { status, body } = await app.patch(`teams/${created.id}`, { description: null, allow_auto_assign: false });
    expect(status).to.equal(200);
    expect(body).to.include({ name: 'changing', description: null, allow_auto_assign: false });
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('members are added, replaced and removed', async () => {
    const { body } = await app.post('teams', { name: 'members' });
    const path = `teams/${body.id}/team_members`;
    expect((await app.get(path)).body).to.deep.equal([]);
    const added = await app.post(path, { user_ids: [bob.id, ada.id, ada.id] });
    expect(added.status).to.equal(200);
    expect(memberIds(added)).to.deep.equal([ada.id, bob.id]);
    expect(added.body[0]).to.include({ name: 'Ada', email: ada.email, role: 'agent', availability: 'online' });
    expect(memberIds(await app.post(path, { user_ids: [ada.id] }))).to.deep.equal([ada.id, bob.id]);
    expect(await app.call('DELETE', path, { user_ids: [ada.id] })).to.deep.include({ status: 200, body: {} });
    expect(memberIds(await app.get(path, ada.headers))).to.deep.equal([bob.id]);
    expect(memberIds(await app.patch(path, { user_ids: [ada.id] }))).to.deep.equal([ada.id]);
    expect(memberIds(await app.patch(path, { user_ids: [] }))).to.deep.equal([]);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('only agents of the account become members, and nobody when one is not', async () => {
    const other = await addAccount(app, 'Other');
    const { body } = await app.post('teams', { name: 'ours' });
    const path = `teams/${body.id}/team_members`;
    for (const id of [other.administrator.id, 999_999]) {
      const { status, body: error } = await app.post(path, { user_ids: [ada.id, id] });
      expect(status).to.equal(404);
      expect(error.error).to.equal('Agent not found');
    }
    expect((await app.get(path)).body).to.deep.equal([]);
    expect((await app.post('teams/999999/team_members', { user_ids: [ada.id] })).status).to.equal(404);
    expect((await app.post(path, { user_ids: 'all' })).status).to.equal(422);
    const { headers } = other.administrator;
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const theirs = `/api/v1/accounts/${other.id}/teams/${body.id}`;
      expect((await app.call(method, theirs, method === 'GET' ? undefined : {}, headers)).status).to.equal(404);
      const members = method === 'GET' ? undefined : { user_ids: [] };
      expect((await app.call(method, `${theirs}/team_members`, members, headers)).status).to.equal(404);
    }
  });

  it('a deleted team leaves its conversations, each of which says so once', async () => {
    const { body: team } = await app.post('teams', { name: 'leaving' });
    await app.post(`teams/${team.id}/team_members`, { user_ids: [ada.id] });
    const conversation = { inbox_id: inboxId, contact_id: contactId };
    const assigned = await app.post('conversations', { ...conversation, team_id: team.id });
    const other = await app.post('conversations', conversation);
    await app.events();
    expect(await app.delete(`teams/${team.id}`)).to.deep.include({ status: 200, body: {} });
    const events = await app.events();
    expect(events.map(({ name, conversation_id: id }) => [name, id])).to.deep.equal([
      ['conversation_updated', assigned.body.id],
    ]);
    expect(events[0]!.account_payload).to.deep.include({
      changed_attributes: { team_id: { previous: team.id, current: null } },
    });
    expect((await app.get(`conversations/${assigned.body.id}`)).body.meta.team).to.equal(null);
    expect((await app.get(`conversations/${other.body.id}`)).status).to.equal(200);
    expect((await app.delete(`teams/${team.id}`)).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('a team that is assigned while it is deleted leaves no conversation behind', async () => {
    const { body: team } = await app.post('teams', { name: 'contested' });
    const create = () => app.post('conversations', { inbox_id: inboxId, contact_id: contactId, team_id: team.id });
    await Promise.all([create(), create(), create()]);
    const [removed, ...created] = await Promise.all([app.delete(`teams/${team.id}`), create(), create(), create()]);
    expect(removed.status).to.equal(200);
    for (const { status } of created) expect(status).to.be.oneOf([201, 404]);
    expect(await app.query('SELECT FROM conversations WHERE team_id = $1', [team.id])).to.deep.equal([]);
  });

  it('a team that is deleted while a message is sent leaves what the message changed', async () => {
    const { body: team } = await app.post('teams', { name: 'busy' });
    const opened = { inbox_id: inboxId, contact_id: contactId, team_id: team.id };
    const { id } = (await app.post('conversations', opened)).body;
    await app.events();
    // As a transaction that answers the customer has it, between its writing and its commit.
    const answer = `UPDATE conversations SET event_sequence = event_sequence + 1, human_silence = 'human_replied' WHERE id = $1`;
    const writer = new Client({ connectionString: app.databaseUrl });
    await writer.connect();
    await writer.query('BEGIN');
    await writer.query(answer, [id]);
    const deleting = app.delete(`teams/${team.id}`);
    await app.eventually(async () => {
      const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      return (await app.query(waiting)).length > 0;
    });
    await writer.query('COMMIT');
    await writer.end();
    expect((await deleting).status).to.equal(200);
    expect((await app.events()).map(({ sequence }) => sequence)).to.deep.equal([3]);
    const [row] = await app.query('SELECT event_sequence, human_silence FROM conversations WHERE id = $1', [id]);
    expect(row).to.deep.equal({ event_sequence: 3, human_silence: 'human_replied' });
  });

  it('an account has at most 500 teams', async () => {
    await app.query(`INSERT INTO teams (account_id, name) SELECT 1, 'filler ' || n FROM generate_series(1, 500) AS n`);
    const { status, body } = await app.post('teams', { name: 'one too many' });
    expect(status).to.equal(422);
    expect(body.details[0].rule).to.equal('limit');
  });
});
