import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addPerson, type User } from '../../support/people.ts';

describe('custom filters', () => {
  let app: TestApp;
  let ada: User;
  let bert: User;

  before(async () => {
    app = await TestApp.start({ engine: false });
    ada = await addPerson(app, { name: 'Ada' });
    bert = await addPerson(app, { name: 'Bert' });
    await app.events();
  });

  after(() => app.stop());

  const create = (body: object, { headers } = ada) => app.post('custom_filters', body, headers);
  const names = async ({ headers }: User, query = ''): Promise<string[]> => {
    const { status, body } = await app.get(`custom_filters${query}`, headers);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.payload.map(({ name }: { name: string }) => name);
  };

  it('are created, listed by type and name, changed and deleted, and nothing is said of them', async () => {
    const query = { status: 'open', payload: [{ attribute_key: 'labels', values: ['vip'] }] };
    const { status, body } = await create({ name: 'VIP', query });
    expect(status).to.equal(201);
    expect(body).to.deep.include({ account_id: 1, name: 'VIP', filter_type: 'conversation', query });
    await create({ name: 'Big', query: {}, type: 'contact' });
    await create({ name: 'Mine', query: {}, filter_type: 'conversation', type: 'report' });
    expect(await names(ada)).to.deep.equal(['Mine', 'VIP']);
    expect(await names(ada, '?filter_type=contact')).to.deep.equal(['Big']);
    expect(await names(ada, '?filter_type=report')).to.deep.equal([]);
    const path = `custom_filters/${body.id}`;
    expect((await app.get(path, ada.headers)).body).to.deep.equal(body);
    const changed = await app.patch(path, { name: 'Very', query: { q: 'late' }, type: 'report' }, ada.headers);
    expect(changed.status).to.equal(200);
    expect(changed.body).to.deep.include({ name: 'Very', query: { q: 'late' }, filter_type: 'report' });
    expect((await app.delete(path, ada.headers)).status).to.equal(200);
    expect((await app.get(path, ada.headers)).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('belong to the agent: nobody else reads, changes or deletes them', async () => {
    const path = `custom_filters/${(await create({ name: 'Own', query: {} })).body.id}`;
    for (const headers of [bert.headers, undefined]) {
      expect((await app.get(path, headers)).status).to.equal(404);
      expect((await app.patch(path, { name: 'Taken' }, headers)).status).to.equal(404);
      expect((await app.delete(path, headers)).status).to.equal(404);
    }
    expect(await names(bert)).to.deep.equal([]);
    expect(await names(ada)).to.include('Own');
  });

  it('are refused with a sentence for what is missing, too long, too large, or of another type', async () => {
    const refused = [
      { name: 'No query' },
      { name: ' ', query: {} },
      { name: 'x'.repeat(256), query: {} },
      { name: 'List', query: [] },
      { name: 'Large', query: { q: 'x'.repeat(8192) } },
      { name: 'Type', query: {}, filter_type: 'label' },
    ];
    for (const body of refused) {
      const answer = await create(body, bert);
      expect([answer.status, typeof answer.body.error], JSON.stringify(answer.body)).to.deep.equal([422, 'string']);
    }
    expect((await app.get('custom_filters?filter_type=label', bert.headers)).status).to.equal(400);
    expect(await names(bert)).to.deep.equal([]);
  });

  it('are at most 50 of an agent, and leave with the agent', async () => {
    const cleo = await addPerson(app, { name: 'Cleo' });
    for (let number = 0; number < 50; number += 1)
      expect((await create({ name: `View ${number}`, query: {} }, cleo)).status).to.equal(201);
    const { status, body } = await create({ name: 'One more', query: {}, type: 'contact' }, cleo);
    expect([status, body.error]).to.deep.equal([422, 'An agent can have at most 50 custom filters']);
    expect((await create({ name: 'Of another', query: {} }, bert)).status).to.equal(201);
    const count = async () =>
      (await app.query<{ count: string }>('SELECT count(*) FROM custom_filters WHERE user_id = $1', [cleo.id]))[0]!
        .count;
    expect(Number(await count())).to.equal(50);
    expect((await app.delete(`agents/${cleo.id}`)).status).to.equal(200);
    expect(Number(await count())).to.equal(0);
  });
});
