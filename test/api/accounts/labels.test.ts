import { expect } from 'chai';
import { finishRenames } from '../../../src/domain/labels/renames.ts';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, botHeaders, type User } from '../../support/people.ts';
import { statuses } from '../../support/statuses.ts';

interface Carrier {
  id: number;
}

/** Conversations that carry the labels. */
async function createCarriers(app: TestApp, count: number, labelIds: readonly number[]): Promise<Carrier[]> {
  const rows = await app.query<Carrier>(
    `INSERT INTO conversations (account_id, inbox_id, contact_id, status)
     SELECT 1, (SELECT min(id) FROM inboxes WHERE account_id = 1), (SELECT min(id) FROM contacts WHERE account_id = 1), 'open'
     FROM generate_series(1, $1::int) RETURNING id`,
    [count],
  );
  await app.query(
    `INSERT INTO conversation_labels (account_id, conversation_id, label_id)
     SELECT 1, conversation, label FROM unnest($1::bigint[]) AS conversation, unnest($2::bigint[]) AS label`,
    [rows.map(({ id }) => id), labelIds],
  );
  return rows;
}

describe('labels', () => {
  let app: TestApp;
  let agent: User;

  before(async () => {
    app = await TestApp.start({ engine: false });
    agent = await addPerson(app, { name: 'Ada' });
    await app.post('contacts', { name: 'Customer' });
  });

  beforeEach(async () => void (await app.events()));

  after(() => app.stop());

  it('a label is created with defaults, and listed by title', async () => {
    const { status, body } = await app.post('labels', { title: 'vip' });
    expect(status).to.equal(201);
    expect(body).to.include({
      account_id: 1,
      title: 'vip',
      description: null,
      color: '#1f93ff',
      show_on_sidebar: false,
    });
    const full = { title: 'zähler_2-x', description: 'Changes', color: '#ABC', show_on_sidebar: true };
    expect((await app.post('labels', full)).body).to.include(full);
    const list = await app.get('labels', agent.headers);
    expect(list.status).to.equal(200);
    expect(list.body.payload.map((label: { title: string }) => label.title)).to.deep.equal(['vip', 'zähler_2-x']);
    expect(list.body.meta).to.deep.equal({ count: 2, current_page: 1, total_pages: 1 });
    expect(await app.eventNames()).to.deep.equal([]);
  });

  for (const title of ['', 'VIP', 'two words', 'dot.ted', 'Ünder', 'x'.repeat(256), 7, null]) {
    it(`the title ${JSON.stringify(title).slice(0, 20)} is refused`, async () => {
      const { status, body } = await app.post('labels', { title });
      expect(status).to.equal(422);
      expect(body.code).to.equal('validation_failed');
      expect(body.details[0].path).to.equal('/title');
    });
  }

  for (const color of ['red', '#12', '#12345g', '123456', null]) {
    it(`the colour ${JSON.stringify(color)} is refused`, async () => {
      const { status, body } = await app.post('labels', { title: 'coloured', color });
      expect(status).to.equal(422);
      expect(body.details[0].path).to.equal('/color');
    });
  }

  it('a title is unique: of many who come at once, one wins', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => app.post('labels', { title: 'once' })));
    expect(statuses(answers)).to.deep.equal([201, 422, 422, 422, 422]);
    expect(answers.find(({ status }) => status === 422)?.body.details).to.deep.equal([
      { path: '/title', rule: 'unique', message: 'Another label of this account has this title' },
    ]);
  });

  it('another account may use the same title, and does not see this one', async () => {
    const other = await addAccount(app, 'Other');
    const { headers } = other.administrator;
    const path = `/api/v1/accounts/${other.id}/labels`;
    const mine = await app.post('labels', { title: 'shared' });
    expect((await app.post(path, { title: 'shared' }, headers)).status).to.equal(201);
    expect((await app.get(path, headers)).body.payload).to.have.lengthOf(1);
    expect((await app.patch(`${path}/${mine.body.id}`, { title: 'stolen' }, headers)).status).to.equal(404);
    expect((await app.delete(`${path}/${mine.body.id}`, headers)).status).to.equal(404);
  });

  it('only administrators write, and bots do not even read', async () => {
    const { body } = await app.post('labels', { title: 'guarded' });
    for (const [method, path] of [
      ['POST', 'labels'],
      ['PATCH', `labels/${body.id}`],
      ['DELETE', `labels/${body.id}`],
    ]) {
      const { status } = await app.call(method!, path!, { title: 'other' }, agent.headers);
      expect(status, method).to.equal(403);
    }
    expect((await app.get('labels', await botHeaders(app))).status).to.equal(403);
    expect((await app.get('labels', { api_access_token: 'nobody' })).status).to.equal(401);
  });

  it('details change without an event; the same again changes nothing', async () => {
    const { body: created } = await app.post('labels', { title: 'detailed' });
    const changes = { description: 'More', color: '#123456', show_on_sidebar: true };
    const { status, body } = await app.patch(`labels/${created.id}`, changes);
    expect(status).to.equal(200);
    expect(body).to.include({ ...changes, title: 'detailed' });
    const { body: cleared } = await app.patch(`labels/${created.id}`, { description: null, title: 'detailed' });
    expect(cleared).to.include({ description: null, color: '#123456' });
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('a rename shows on the conversations that carry the label', async () => {
    const { body: label } = await app.post('labels', { title: 'old' });
    const { body: second } = await app.post('labels', { title: 'middle' });
    const [carrier] = await createCarriers(app, 1, [label.id, second.id]);
    const { status, body } = await app.patch(`labels/${label.id}`, { title: 'new' });
    expect(status).to.equal(200);
    expect(body).to.include({ id: label.id, title: 'new' });
    const events = await app.events();
    expect(events.map(({ name }) => name)).to.deep.equal(['conversation_updated']);
    expect(events[0]!.account_payload).to.deep.include({
      id: carrier!.id,
      labels: ['middle', 'new'],
      changed_attributes: { labels: { previous: ['middle', 'old'], current: ['middle', 'new'] } },
    });
    expect((await app.get(`conversations/${carrier!.id}`)).body.labels).to.deep.equal(['middle', 'new']);
    await app.patch(`labels/${label.id}`, { title: 'new' });
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('a rename to a title that is taken changes nothing', async () => {
    const { body: label } = await app.post('labels', { title: 'one' });
    await app.post('labels', { title: 'two' });
    const [carrier] = await createCarriers(app, 1, [label.id]);
    expect((await app.patch(`labels/${label.id}`, { title: 'two', color: '#000' })).status).to.equal(422);
    expect((await app.get(`conversations/${carrier!.id}`)).body.labels).to.deep.equal(['one']);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('renames that meet say each change once, in order', async () => {
    const { body: label } = await app.post('labels', { title: 'first' });
    const [carrier] = await createCarriers(app, 1, [label.id]);
    const titles = ['second', 'third', 'fourth'];
    const answers = await Promise.all(titles.map((title) => app.patch(`labels/${label.id}`, { title })));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    const chain = ['first'];
    for (const { account_payload: payload, sequence } of await app.events()) {
      const { labels } = payload!.changed_attributes as { labels: { previous: string[]; current: string[] } };
      expect(labels.previous).to.deep.equal([chain.at(-1)]);
      chain.push(labels.current[0]!);
      expect(sequence).to.equal(chain.length - 1);
    }
    expect(chain.slice().sort()).to.deep.equal(['first', ...titles].sort());
    expect((await app.get(`conversations/${carrier!.id}`)).body.labels).to.deep.equal([chain.at(-1)]);
  });

  it('a rename of a label on many conversations goes in batches, and goes on after a crash: each says it once', async () => {
    const { body: label } = await app.post('labels', { title: 'everywhere' });
    const carriers = await createCarriers(app, 450, [label.id]);
    // The last moment before the second batch commits.
    await app.query(`CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF (SELECT count(*) FROM label_renames) BETWEEN 1 AND 100 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
      RETURN NULL; END $$`);
    await app.query('CREATE TRIGGER cut AFTER DELETE ON label_renames FOR EACH STATEMENT EXECUTE FUNCTION cut()');
    expect((await app.patch(`labels/${label.id}`, { title: 'somewhere' })).status).to.equal(503);
    await app.query('DROP TRIGGER cut ON label_renames');
    expect(await app.eventNames()).to.have.lengthOf(200);
    // Of the rest, one has left the label, and one is told the newest title only.
    await app.post(`conversations/${carriers[440]!.id}/labels`, { labels: [] });
    await app.events();
    await app.query(`UPDATE labels SET title = 'nowhere' WHERE id = $1`, [label.id]);
    expect(await finishRenames(app.app.database)).to.equal(1);
    const told = await app.events();
    expect(told).to.have.lengthOf(249);
    for (const { account_payload: payload } of told) {
      expect(payload!['changed_attributes']).to.deep.equal({
        labels: { previous: ['everywhere'], current: ['nowhere'] },
      });
    }
    expect(await finishRenames(app.app.database)).to.equal(0);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('a rename that follows one that a crash cut short tells each conversation of the title that it said last', async () => {
    const { body: label } = await app.post('labels', { title: 'b' });
    const [told, untold] = await createCarriers(app, 2, [label.id]);
    // As a crash in the midst of the rename from `a` to `b` leaves it.
    await app.query(
      `INSERT INTO label_renames (account_id, label_id, conversation_id, previous_title) VALUES (1, $1, $2, 'a')`,
      [label.id, untold!.id],
    );
    expect((await app.patch(`labels/${label.id}`, { title: 'c' })).status).to.equal(200);
    const changes = (await app.events()).map(({ conversation_id: id, account_payload: payload }) => [
      id,
      payload!['changed_attributes'],
    ]);
    expect(changes).to.deep.equal([
      [told!.id, { labels: { previous: ['b'], current: ['c'] } }],
      [untold!.id, { labels: { previous: ['a'], current: ['c'] } }],
    ]);
  });

  it('a deleted label leaves every conversation, each of which says so once', async () => {
    const { body: label } = await app.post('labels', { title: 'gone' });
    const { body: kept } = await app.post('labels', { title: 'kept' });
    // More than one batch.
    const carriers = await createCarriers(app, 450, [label.id, kept.id]);
    const [without] = await createCarriers(app, 1, [kept.id]);
    expect(await app.delete(`labels/${label.id}`)).to.deep.include({ status: 200, body: {} });
    const events = await app.events();
    expect(events).to.have.lengthOf(450);
    expect(new Set(events.map((event) => event.conversation_id))).to.deep.equal(new Set(carriers.map(({ id }) => id)));
    for (const event of events) {
      expect(event.name).to.equal('conversation_updated');
      expect(event.sequence).to.equal(1);
      expect(event.account_payload!.changed_attributes).to.deep.equal({
        labels: { previous: ['gone', 'kept'], current: ['kept'] },
      });
    }
    const [sequence] = await app.query('SELECT event_sequence FROM conversations WHERE id = $1', [carriers[0]!.id]);
    expect(sequence).to.deep.equal({ event_sequence: 1 });
    expect((await app.get(`conversations/${without!.id}`)).body.labels).to.deep.equal(['kept']);
    expect((await app.delete(`labels/${label.id}`)).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('of two who delete a label at once, each conversation hears once', async () => {
    const { body: label } = await app.post('labels', { title: 'twice' });
    await createCarriers(app, 30, [label.id]);
    const answers = await Promise.all([app.delete(`labels/${label.id}`), app.delete(`labels/${label.id}`)]);
    expect(statuses(answers)).to.deep.equal([200, 404]);
    expect(await app.eventNames()).to.have.lengthOf(30);
  });

  it('an account has at most 1000 labels', async () => {
    await app.query(
      `INSERT INTO labels (account_id, title) SELECT 1, 'filler_' || n FROM generate_series(1, 1000) AS n`,
    );
    const { status, body } = await app.post('labels', { title: 'one-too-many' });
    expect(status).to.equal(422);
    expect(body.details[0].rule).to.equal('limit');
  });
});
