import { expect } from 'chai';
import manifest from '../../../package.json' with { type: 'json' };
import { adminToken, TestApp } from '../../support/app.ts';
import { Maker } from '../../support/maker.ts';
import { addPerson, type Person } from '../../support/people.ts';

const idsOf = (records: { id: number }[]) => records.map(({ id }) => id);

describe('operations that clients of the field know', () => {
  let app: TestApp;
  let maker: Maker;
  let agent: Person;
  let inbox: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    const administrator = { id: 1, headers: { api_access_token: adminToken } };
    maker = new Maker(app, 1, { mark: 'Alpha', administrator });
    agent = await addPerson(app, { name: 'Ann' });
    inbox = await maker.inbox();
  });

  beforeEach(() => app.events());
  after(() => app.stop());

  it('GET /api tells which service answers, to anybody', async () => {
    const { status, body } = await app.get('/api', { api_access_token: '' });
    expect(status).to.equal(200);
    expect(body).to.include({ version: manifest.version, queue_services: 'ok', data_services: 'ok' });
    expect(Math.abs(Date.parse(body.timestamp) - Date.now())).to.be.below(60_000);
  });

  describe('inbox_members', () => {
    it('are those of the inbox: added, replaced, listed, removed', async () => {
      const members = async () => idsOf((await app.get(`inbox_members/${inbox}`)).body.payload);
      const other = await addPerson(app, { name: 'Bob' });
      const added = await app.post('inbox_members', { inbox_id: inbox, user_ids: [agent.id] });
      expect([added.status, idsOf(added.body.payload)]).to.deep.equal([200, [agent.id]]);
      expect((await app.get(`inboxes/${inbox}/members`)).body).to.deep.equal(added.body);
      const replaced = await app.patch('inbox_members', { inbox_id: String(inbox), user_ids: [other.id] });
      expect(idsOf(replaced.body.payload)).to.deep.equal([other.id]);
      const conversation = await maker.conversation(inbox, { assignee_id: other.id });
      await app.events();
      const removed = await app.call('DELETE', 'inbox_members', { inbox_id: inbox, user_ids: [other.id] });
      expect([removed.status, removed.body]).to.deep.equal([200, {}]);
      expect(await members()).to.deep.equal([]);
      expect((await app.get(`conversations/${conversation}`)).body.meta.assignee).to.equal(null);
      expect(await app.eventNames()).to.deep.equal(['conversation_updated']);
      expect((await app.call('DELETE', 'inbox_members', { inbox_id: inbox, user_ids: [other.id] })).status).to.equal(
        200,
      );
    });

    it('are refused for inboxes and people that are not there, and without either', async () => {
      expect((await app.get('inbox_members/999999')).status).to.equal(404);
      for (const body of [
        { inbox_id: 999_999, user_ids: [agent.id] },
        { inbox_id: inbox, user_ids: [999_999] },
      ])
        expect((await app.post('inbox_members', body)).status, JSON.stringify(body)).to.equal(404);
      for (const body of [{ user_ids: [agent.id] }, { inbox_id: inbox }, { inbox_id: 'x', user_ids: [] }])
        expect((await app.post('inbox_members', body)).status, JSON.stringify(body)).to.equal(422);
      expect((await app.get(`inboxes/${inbox}/members`)).body.payload).to.deep.equal([]);
    });
  });

  it('GET conversations/meta counts what the list counts, by the same filters and for the same eyes', async () => {
    const mine = await maker.inbox({ members: [agent] });
    await maker.conversation(mine, { assignee_id: agent.id, status: 'open' });
    await maker.conversation(mine, { status: 'resolved' });
    for (const query of [
      '',
      '?status=open',
      '?assignee_type=me',
      `?inbox_id=${mine}`,
      `?inbox_id=${mine}&status=resolved`,
    ])
      for (const headers of [{ api_access_token: adminToken }, agent.headers]) {
        const { body } = await app.get(`conversations/meta${query}`, headers);
        const { all_count, mine_count, unassigned_count, assigned_count } = (
          await app.get(`conversations${query}`, headers)
        ).body.data.meta;
        expect(body, query).to.deep.equal({ meta: { all_count, mine_count, unassigned_count, assigned_count } });
      }
    expect((await app.get(`conversations/meta?inbox_id=${mine}`, agent.headers)).body.meta).to.deep.equal({
      all_count: 2,
      mine_count: 1,
      unassigned_count: 1,
      assigned_count: 1,
    });
    expect((await app.get('conversations/meta?inbox_id=999999')).status).to.equal(404);
    expect((await app.get('conversations/meta?status=closed')).status).to.equal(400);
  });

  it('toggle_priority sets a priority, null takes it away, the same says nothing', async () => {
    const id = await maker.conversation(inbox);
    await app.events();
    const toggle = (body: object) => app.post(`conversations/${id}/toggle_priority`, body);
    expect((await toggle({ priority: 'urgent' })).body.priority).to.equal('urgent');
    const [event] = await app.events();
    expect(event!.account_payload!['changed_attributes']).to.deep.equal({
      priority: { previous: null, current: 'urgent' },
    });
    expect((await toggle({ priority: 'urgent' })).status).to.equal(200);
    expect(await app.eventNames()).to.deep.equal([]);
    expect((await toggle({ priority: null })).body.priority).to.equal(null);
    expect(await app.eventNames()).to.deep.equal(['conversation_updated']);
    for (const body of [{}, { priority: 'soon' }, { priority: '' }]) expect((await toggle(body)).status).to.equal(422);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('custom attributes of a conversation are replaced, which is told once with what they were', async () => {
    const id = await maker.conversation(inbox);
    const path = `conversations/${id}`;
    await app.patch(path, { custom_attributes: { kept: 1, gone: 2 }, additional_attributes: { untouched: true } });
    await app.events();
    const set = (custom: unknown, headers = {}) =>
      app.post(`${path}/custom_attributes`, { custom_attributes: custom }, headers);
    const { status, body } = await set({ kept: 3, none: null });
    expect([status, body.id, body.custom_attributes], body.error).to.deep.equal([200, id, { kept: 3 }]);
    expect(body.additional_attributes).to.deep.equal({ untouched: true });
    const [event, ...others] = await app.events();
    expect(others).to.deep.equal([]);
    expect(event!.account_payload!['changed_attributes']).to.deep.equal({
      custom_attributes: { previous: { kept: 1, gone: 2 }, current: { kept: 3 } },
    });
    expect((await set({ kept: 3 })).status).to.equal(200);
    expect(await app.eventNames()).to.deep.equal([]);
    for (const bad of [undefined, 'x', ['a'], { a: 'x'.repeat(65_536) }]) expect((await set(bad)).status).to.equal(422);
    expect((await set({ late: 1 }, { 'if-match': '"another"' })).status).to.equal(412);
    expect((await app.get(path)).body.custom_attributes).to.deep.equal({ kept: 3 });
    expect(await app.eventNames()).to.deep.equal([]);
    expect((await set({})).body.custom_attributes).to.deep.equal({});
    expect(await app.eventNames()).to.deep.equal(['conversation_updated']);
  });

  describe('labels of a contact', () => {
    const set = (id: number, labels: unknown[]) => app.post(`contacts/${id}/labels`, { labels });
    const read = async (id: number) => (await app.get(`contacts/${id}/labels`)).body.payload;

    it('are replaced as a set, which is told once with what it was', async () => {
      const id = await maker.contact();
      for (const title of ['vip', 'late', 'new']) await app.post('labels', { title });
      await app.events();
      expect(await read(id)).to.deep.equal([]);
      const first = await set(id, ['vip', 'late', 'vip']);
      expect([first.status, first.body]).to.deep.equal([200, { payload: ['late', 'vip'] }]);
      expect((await set(id, ['vip', 'new'])).body.payload).to.deep.equal(['new', 'vip']);
      expect(await read(id)).to.deep.equal(['new', 'vip']);
      const told = (await app.events()).map(({ name, account_payload: payload }) => [
        name,
        payload!['changed_attributes'],
      ]);
      expect(told).to.deep.equal([
        ['contact_updated', { labels: { previous: [], current: ['late', 'vip'] } }],
        ['contact_updated', { labels: { previous: ['late', 'vip'], current: ['new', 'vip'] } }],
      ]);
      expect((await set(id, ['new', 'vip'])).status).to.equal(200);
      expect(await app.eventNames()).to.deep.equal([]);
      expect((await set(id, [])).body.payload).to.deep.equal([]);
      expect(await app.eventNames()).to.deep.equal(['contact_updated']);
    });

    it('are labels of the account: an unknown one is refused, and changes nothing', async () => {
      const id = await maker.contact();
      const { title } = await maker.label();
      await set(id, [title]);
      await app.events();
      const refused = await set(id, ['nobody-made-this']);
      expect([refused.status, refused.body.error]).to.deep.equal([422, 'There is no label `nobody-made-this`']);
      expect((await set(id, ['Upper'])).status).to.equal(422);
      expect((await set(999_999, [title])).status).to.equal(404);
      expect(await read(id)).to.deep.equal([title]);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('follow a label that is renamed, and go with it or with the contact', async () => {
      const [id, other] = [await maker.contact(), await maker.contact()];
      const [kept, gone] = [await maker.label(), await maker.label()];
      for (const contact of [id, other]) await set(contact, [kept.title, gone.title]);
      await app.patch(`labels/${kept.id}`, { title: 'a-renamed-one' });
      await app.call('DELETE', `labels/${gone.id}`);
      expect(await read(id)).to.deep.equal(['a-renamed-one']);
      await app.call('DELETE', `contacts/${other}`);
      const rows = await app.query<{ contact_id: number }>(
        'SELECT contact_id FROM contact_labels WHERE contact_id = ANY ($1)',
        [[id, other]],
      );
      expect(rows.map(({ contact_id: contact }) => contact)).to.deep.equal([id]);
    });

    it('set twice at once are one of the two sets', async () => {
      const id = await maker.contact();
      const titles = [(await maker.label()).title, (await maker.label()).title, (await maker.label()).title];
      const sets = [titles.slice(0, 2), titles.slice(1)];
      const answers = await Promise.all([...sets, ...sets, ...sets].map((labels) => set(id, labels)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(6).fill(200));
      expect(sets.map((labels) => labels.toSorted().join())).to.include((await read(id)).join());
    });
  });
});
