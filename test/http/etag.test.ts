import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { addPerson, botHeaders } from '../support/people.ts';
import { addContact, addConversation, addInbox } from '../support/records.ts';

const tagShape = /^W\/"[\w-]{27}"$/;

describe('entity tags', () => {
  let app: TestApp;
  let inboxId: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    inboxId = await addInbox(app);
  });

  after(() => app.stop());

  beforeEach(() => app.events());

  async function tagOf(path: string): Promise<string> {
    const tag = (await app.get(path)).headers.get('etag') ?? '';
    expect(tag).to.match(tagShape);
    return tag;
  }

  it('a record has a tag, the same until it changes', async () => {
    const path = `contacts/${await addContact(app, { name: 'Tagged' })}`;
    const tag = await tagOf(path);
    expect(await tagOf(path)).to.equal(tag);
    await app.patch(path, { name: 'Changed' });
    const changed = await tagOf(path);
    expect(changed).not.to.equal(tag);
    await app.patch(path, {});
    expect(await tagOf(path)).to.equal(changed);
  });

  it('lists and refusals have none', async () => {
    for (const path of ['contacts', 'conversations', 'inboxes', 'contacts/999999', 'contacts/search?q=x']) {
      expect((await app.get(path)).headers.has('etag'), path).to.equal(false);
    }
  });

  it('If-None-Match: 304 without a body while it holds', async () => {
    const path = `contacts/${await addContact(app)}`;
    const tag = await tagOf(path);
    const url = `${app.url}/api/v1/accounts/1/${path}`;
    for (const known of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const headers = { api_access_token: 'administrator-of-the-tests', 'if-none-match': known };
        const response = await fetch(url, { method, headers });
        expect([known, response.status, await response.text()]).to.deep.equal([known, 304, '']);
        expect(response.headers.get('etag')).to.equal(tag);
        expect(response.headers.get('x-request-id')).to.be.a('string');
      }
    }
    for (const unknown of ['W/"other"', '"', 'garbage', '']) {
      expect((await app.get(path, { 'if-none-match': unknown })).status).to.equal(200);
    }
    await app.patch(path, { name: 'New name' });
    expect((await app.get(path, { 'if-none-match': tag })).status).to.equal(200);
  });

  it('If-None-Match tells nothing to who may not read', async () => {
    const id = await addConversation(app, inboxId);
    const tag = await tagOf(`conversations/${id}`);
    const stranger = await addPerson(app, { name: 'Stranger' });
    const answer = await app.get(`conversations/${id}`, { ...stranger.headers, 'if-none-match': tag });
    expect([answer.status, answer.headers.get('etag')]).to.deep.equal([403, null]);
  });

  it('If-Match: a change of what was read is made', async () => {
    const path = `contacts/${await addContact(app)}`;
    const { status, body } = await app.patch(path, { name: 'As read' }, { 'if-match': await tagOf(path) });
    expect([status, body.name]).to.deep.equal([200, 'As read']);
    expect((await app.patch(path, { name: 'As it is' }, { 'if-match': '*' })).status).to.equal(200);
    expect(await app.eventNames()).to.deep.equal(['contact_created', 'contact_updated', 'contact_updated']);
    expect((await app.delete(path, { 'if-match': await tagOf(path) })).status).to.equal(200);
    expect((await app.get(path)).status).to.equal(404);
  });

  it('If-Match: a change of something else is refused with the present tag, and nothing happens', async () => {
    const id = await addConversation(app, inboxId);
    const path = `conversations/${id}`;
    const old = await tagOf(path);
    await app.post(`${path}/toggle_status`, { status: 'resolved' });
    const present = await tagOf(path);
    await app.events();
    const calls = [
      () => app.patch(path, { priority: 'high' }, { 'if-match': old }),
      () => app.delete(path, { 'if-match': old }),
      () => app.post(`${path}/toggle_status`, { status: 'open' }, { 'if-match': old }),
      () => app.post(`${path}/assignments`, { assignee_id: 1 }, { 'if-match': old }),
      () => app.post(`${path}/messages`, { content: 'Late', message_type: 'outgoing' }, { 'if-match': old }),
    ];
    for (const call of calls) {
      const { status, body, headers } = await call();
      expect([status, body.code, headers.get('etag')]).to.deep.equal([412, 'precondition_failed', present]);
    }
    expect(await tagOf(path)).to.equal(present);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('If-Match on a message: what somebody else has changed is not overwritten', async () => {
    const id = await addConversation(app, inboxId);
    const base = `conversations/${id}/messages`;
    const { body } = await app.post(base, { content: 'As written', message_type: 'outgoing' });
    const path = `${base}/${body.id}`;
    expect((await app.get(path)).body).to.deep.equal(body);
    const old = await tagOf(path);
    await app.patch(path, { content: 'By somebody' });
    const present = await tagOf(path);
    await app.events();
    for (const call of [
      () => app.patch(path, { content: 'By another' }, { 'if-match': old }),
      () => app.delete(path, { 'if-match': old }),
    ]) {
      const { status, body: refusal, headers } = await call();
      expect([status, refusal.code, headers.get('etag')]).to.deep.equal([412, 'precondition_failed', present]);
    }
    expect(await app.eventNames()).to.deep.equal([]);
    const changed = await app.patch(path, { content: 'By another' }, { 'if-match': present });
    expect([changed.status, changed.body.content]).to.deep.equal([200, 'By another']);
    expect((await app.delete(path, { 'if-match': await tagOf(path) })).status).to.equal(200);
    expect(await app.eventNames()).to.deep.equal(['message_updated', 'message_updated', 'message_deleted']);
    const elsewhere = await addConversation(app, inboxId);
    for (const wrong of [`conversations/${elsewhere}/messages/${body.id}`, `${base}/999999`]) {
      expect((await app.get(wrong)).status, wrong).to.equal(404);
    }
  });

  it('If-Match on an action: made when nothing has changed', async () => {
    const path = `conversations/${await addConversation(app, inboxId)}`;
    await app.events();
    const resolved = await app.post(`${path}/toggle_status`, { status: 'resolved' }, { 'if-match': await tagOf(path) });
    expect([resolved.status, resolved.body.status]).to.deep.equal([200, 'resolved']);
    expect(await app.eventNames()).to.deep.equal(['conversation_status_changed']);
  });

  it('If-Match where there is no version: 412; where there is no record: 404', async () => {
    const list = await app.post('contacts', { name: 'No version' }, { 'if-match': '*' });
    expect([list.status, list.body.code, list.headers.get('etag')]).to.deep.equal([412, 'precondition_failed', null]);
    expect((await app.patch('contacts/999999', { name: 'x' }, { 'if-match': '*' })).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('If-Match tells nothing to who may not change or read', async () => {
    const path = `contacts/${await addContact(app)}`;
    const bot = await botHeaders(app);
    const answer = await app.patch(path, { name: 'Botched' }, { ...bot, 'if-match': 'W/"guess"' });
    expect([answer.status, answer.headers.get('etag')]).to.deep.equal([403, null]);
  });

  it('of two who change what both have read, one is refused', async () => {
    const path = `contacts/${await addContact(app)}`;
    const headers = { 'if-match': await tagOf(path) };
    const names = Array.from({ length: 8 }, (_, index) => `Writer ${index}`);
    const answers = await Promise.all(names.map((name) => app.patch(path, { name }, headers)));
    const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
    expect(statuses).to.deep.equal([200, ...Array.from({ length: 7 }, () => 412)]);
    const winner = answers.find(({ status }) => status === 200);
    expect((await app.get(path)).body.name).to.equal(winner?.body.name);
    expect(await app.eventNames()).to.deep.equal(['contact_created', 'contact_updated']);
  });

  it('a change that commits between check and change is not overwritten', async () => {
    const id = await addConversation(app, inboxId);
    const path = `conversations/${id}`;
    const headers = { 'if-match': await tagOf(path) };
    await app.events();
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const { promise: isChanged, resolve: changed } = Promise.withResolvers<void>();
    const other = app.app.database.transaction(async (sql) => {
      await sql(`UPDATE conversations SET priority = 'urgent', updated_at = now() WHERE id = $1`, [id]);
      changed();
      await mayEnd;
    });
    await isChanged;
    const late = app.patch(path, { priority: 'low' }, headers);
    // It has checked, and waits for the row.
    await app.eventually(async () => {
      const waiting = await app.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    end();
    await other;
    const { status, headers: told } = await late;
    expect([status, told.get('etag')]).to.deep.equal([412, await tagOf(path)]);
    expect((await app.get(path)).body.priority).to.equal('urgent');
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('with an Idempotency-Key, a request that was made is answered again though the record has moved on', async () => {
    const path = `conversations/${await addConversation(app, inboxId)}`;
    await app.events();
    const headers = { 'if-match': await tagOf(path), 'idempotency-key': 'conditional and once' };
    const resolve = () => app.post(`${path}/toggle_status`, { status: 'resolved' }, headers);
    const first = await resolve();
    const again = await resolve();
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).to.deep.equal([200, 200, 'true']);
    expect(again.body).to.deep.equal(first.body);
    expect(await app.eventNames()).to.deep.equal(['conversation_status_changed']);
  });
});

describe('page links', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false });
    await app.query(
      `INSERT INTO contacts (account_id, name) SELECT 1, 'Contact ' || n FROM generate_series(1, 40) AS n`,
    );
  });

  after(() => app.stop());

  async function linksOf(path: string): Promise<Record<string, string>> {
    const header = (await app.get(path)).headers.get('link') ?? '';
    const links = Array.from(header.matchAll(/<([^>]+)>; rel="(\w+)"/g), ([, target = '', relation = '']) => [
      relation,
      target,
    ]);
    return Object.fromEntries(links) as Record<string, string>;
  }

  const contacts = '/api/v1/accounts/1/contacts';

  it('a page of a list names the pages around it, with the rest of the query', async () => {
    const { total_pages: last } = (await app.get('contacts')).body.meta;
    expect(await linksOf('contacts?page=2&sort=-name')).to.deep.equal({
      first: `${contacts}?page=1&sort=-name`,
      prev: `${contacts}?page=1&sort=-name`,
      next: `${contacts}?page=3&sort=-name`,
      last: `${contacts}?page=${last}&sort=-name`,
    });
    expect(Object.keys(await linksOf('contacts'))).to.deep.equal(['first', 'next', 'last']);
    expect(Object.keys(await linksOf(`contacts?page=${last}`))).to.deep.equal(['first', 'prev', 'last']);
    expect((await linksOf('contacts?page=900')).prev).to.equal(`${contacts}?page=${last}`);
  });

  it('following them sees every record once', async () => {
    const seen: number[] = [];
    for (let path: string | undefined = 'contacts?sort=name'; path; path = (await linksOf(path)).next) {
      seen.push(...(await app.get(path)).body.payload.map(({ id }: { id: number }) => id));
    }
    expect(new Set(seen).size).to.equal(seen.length);
    expect(seen.length).to.equal((await app.get('contacts')).body.meta.count);
  });

  it('nested meta has them too; what has no pages has none', async () => {
    expect(Object.keys(await linksOf('conversations'))).to.deep.equal(['first', 'last']);
    for (const path of ['inboxes', 'agents', '/api/v1/profile', 'contacts?page=x']) {
      expect((await app.get(path)).headers.has('link'), path).to.equal(false);
    }
  });

  it('what the caller wrote comes back encoded', async () => {
    const { next = '' } = await linksOf('contacts?note=a%22%3E%2Cb%0D%0Aset-cookie:x&page=1');
    expect(next).to.equal(`${contacts}?note=a%22%3E%2Cb%0D%0Aset-cookie%3Ax&page=2`);
  });
});
