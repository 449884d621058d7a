import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';
import { addConversation, addInbox, addWebhookBot } from '../../support/records.ts';

describe('conversation labels', () => {
  let app: TestApp;
  let member: Person;
  let outsider: Person;
  let bot: Person;
  let inbox: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    member = await addPerson(app, { name: 'Member' });
    outsider = await addPerson(app, { name: 'Outsider' });
    bot = await addWebhookBot(app, 'Helper');
    inbox = await addInbox(app, { members: [member], botId: bot.id });
    await app.query(`INSERT INTO labels (account_id, title) VALUES (1, 'billing'), (1, 'urgent'), (1, 'grün')`);
    const { id } = await addAccount(app, 'Elsewhere');
    await app.query(`INSERT INTO labels (account_id, title) VALUES ($1, 'theirs')`, [id]);
  });

  after(() => app.stop());

  async function open(): Promise<number> {
    const id = await addConversation(app, inbox);
    await app.events();
    return id;
  }

  const set = (id: number, labels: unknown, person?: Person) =>
    app.post(`conversations/${id}/labels`, { labels }, person?.headers);

  it('replace the set, in one event', async () => {
    const id = await open();
    expect(await set(id, ['urgent', 'billing', 'urgent'], member)).to.deep.include({
      status: 200,
      body: { payload: ['billing', 'urgent'] },
    });
    expect((await set(id, ['grün', 'billing'], bot)).body).to.deep.equal({ payload: ['billing', 'grün'] });
    const changes = (await app.events()).map(({ name, account_payload: payload }) => [
      name,
      payload!.changed_attributes,
      payload!.labels,
    ]);
    expect(changes).to.deep.equal([
      ['conversation_updated', { labels: { previous: [], current: ['billing', 'urgent'] } }, ['billing', 'urgent']],
      [
        'conversation_updated',
        { labels: { previous: ['billing', 'urgent'], current: ['billing', 'grün'] } },
        ['billing', 'grün'],
      ],
    ]);
    for (const person of [member, bot]) {
      const answer = await app.get(`conversations/${id}/labels`, person.headers);
      expect(answer).to.deep.include({ status: 200, body: { payload: ['billing', 'grün'] } });
    }
    expect((await app.get(`conversations/${id}`)).body.labels).to.deep.equal(['billing', 'grün']);
    expect((await set(id, [])).body).to.deep.equal({ payload: [] });
    expect(await app.eventNames()).to.deep.equal(['conversation_updated']);
  });

  it('say nothing when the set is the same', async () => {
    const id = await open();
    await set(id, ['urgent', 'billing']);
    await app.events();
    expect(await set(id, ['billing', 'urgent'])).to.deep.include({
      status: 200,
      body: { payload: ['billing', 'urgent'] },
    });
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('become labels of the account with `create_missing`, by who may create labels', async () => {
    const id = await open();
    const make = (labels: string[], person?: Person) =>
      app.post(`conversations/${id}/labels`, { labels, create_missing: true }, person?.headers);
    for (const person of [member, bot]) {
      const { status, body } = await make(['billing', 'brand-new'], person);
      expect([status, body.error]).to.deep.equal([422, 'There is no label `brand-new`']);
    }
    expect((await make(['Upper'])).status).to.equal(422);
    expect(await app.query(`SELECT FROM labels WHERE title = 'brand-new'`)).to.deep.equal([]);
    expect(await app.eventNames()).to.deep.equal([]);
    expect((await make(['brand-new', 'billing', 'brand-new'])).body).to.deep.equal({
      payload: ['billing', 'brand-new'],
    });
    expect(await app.eventNames()).to.deep.equal(['conversation_updated']);
    const { payload } = (await app.get('labels')).body;
    expect(payload.filter(({ title }: { title: string }) => title === 'brand-new')).to.have.lengthOf(1);
    expect((await make(['billing'], member)).body).to.deep.equal({ payload: ['billing'] });
  });

  it('must exist in the account, lower case, or nothing changes', async () => {
    const id = await open();
    await set(id, ['urgent']);
    await app.events();
    for (const labels of [
      ['billing', 'unknown'],
      ['theirs'],
      ['Billing'],
      [''],
      'billing',
      null,
      [1],
      Array(101).fill('billing'),
    ]) {
      expect((await set(id, labels)).status, JSON.stringify(labels)).to.equal(422);
    }
    expect((await app.post(`conversations/${id}/labels`)).status).to.equal(422);
    expect((await app.get(`conversations/${id}/labels`)).body.payload).to.deep.equal(['urgent']);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('are for those who may see the conversation', async () => {
    const id = await open();
    expect((await set(id, ['urgent'], outsider)).status).to.equal(403);
    expect((await app.get(`conversations/${id}/labels`, outsider.headers)).status).to.equal(403);
    const other = await addConversation(app, await addInbox(app));
    await app.events();
    expect((await set(other, ['urgent'], bot)).status).to.equal(403);
    expect((await set(99999999, ['urgent'])).status).to.equal(404);
    expect((await app.get('conversations/99999999/labels')).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('set at once by many follow each other', async () => {
    const id = await open();
    const sets = [['billing'], ['urgent'], ['grün', 'urgent'], []];
    const answers = await Promise.all([...sets, ...sets].map((labels) => set(id, labels)));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(8).fill(200));
    let previous: unknown = [];
    for (const { account_payload: payload } of await app.events()) {
      const { labels } = payload!.changed_attributes as { labels: { previous: unknown; current: unknown } };
      expect(labels.previous).to.deep.equal(previous);
      previous = labels.current;
    }
    expect((await app.get(`conversations/${id}/labels`)).body.payload).to.deep.equal(previous);
  });
});
