import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { deleteContact } from '../../../src/domain/contacts/erasure.ts';
import { system, transact } from '../../../src/events/transaction.ts';
import { TestApp, type Answer } from '../../support/app.ts';
import { addAccount } from '../../support/people.ts';
import { addContact } from '../../support/records.ts';
import { Widget } from '../../support/widget.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('the clients of an inbox of the API', () => {
  let app: TestApp;
  let inbox: Widget;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { widgetSessionsPerMinute: 0 } });
    inbox = await Widget.create(app, { channel_type: 'Channel::Api' });
  });

  after(() => app.stop());

  beforeEach(() => app.events());

  /** A client that was let in, and calls below its own path. */
  async function enter(profile: object = {}, at = inbox) {
    const { status, body } = await at.call('POST', 'contacts', profile);
    expect(status).to.equal(201);
    const source: string = body.source_id;
    const call = (method: string, path = '', sent?: unknown, headers?: Record<string, string>): Promise<Answer> =>
      at.call(method, `contacts/${encodeURIComponent(source)}${path}`, sent, headers);
    const begin = async (): Promise<number> => (await call('POST', '/conversations', {})).body.id;
    const say = (id: number, content: string): Promise<Answer> =>
      call('POST', `/conversations/${id}/messages`, { content });
    return { id: body.id as number, source, body, call, begin, say };
  }

  it('are let in, talk, and read what is public', async () => {
    const client = await enter({ name: 'Ada', email: 'ada@example.com', custom_attributes: { page: '/prices' } });
    expect(client.source).to.match(uuid);
    expect(client.body).to.deep.equal({
      source_id: client.source,
      id: client.id,
      name: 'Ada',
      email: 'ada@example.com',
      phone_number: null,
      identifier: null,
    });
    expect((await client.call('GET')).body).to.deep.equal(client.body);
    const begun = await client.call('POST', '/conversations', { custom_attributes: { cart: 3 } });
    expect([begun.status, begun.body.inbox_id, begun.body.messages]).to.deep.equal([201, inbox.id, []]);
    const { id } = begun.body;
    const said = await client.call('POST', `/conversations/${id}/messages`, { content: 'Hello', echo_id: 'e-1' });
    expect([said.status, said.body.echo_id, said.body.message_type]).to.deep.equal([201, 'e-1', 'incoming']);
    expect(await app.eventNames()).to.deep.equal(['contact_created', 'conversation_created', 'message_created']);

    const { body: seen } = await app.get(`conversations/${id}`);
    expect(seen.additional_attributes).to.deep.equal({ visitor_attributes: { cart: 3 } });
    expect((await app.get(`contacts/${client.id}`)).body).to.deep.include({
      visitor_attributes: { page: '/prices' },
      custom_attributes: {},
    });
    await app.post(`conversations/${id}/messages`, { content: 'Good day', message_type: 'outgoing' });
    await app.post(`conversations/${id}/messages`, { content: 'A secret', message_type: 'outgoing', private: true });
    const { body: messages } = await client.call('GET', `/conversations/${id}/messages`);
    expect(messages.map(({ content }: Answer['body']) => content)).to.deep.equal(['Hello', 'Good day']);
    const { body: listed } = await client.call('GET', '/conversations');
    expect(listed).to.have.lengthOf(1);
    expect(listed[0].messages[0].content, 'the newest that is public').to.equal('Good day');
    expect((await client.call('GET', `/conversations/${id}`)).body).to.deep.equal(listed[0]);
    expect(JSON.stringify([messages, listed])).not.to.contain('secret');
    const second = await client.begin();
    expect((await client.call('GET', '/conversations')).body).to.have.lengthOf(2);
    expect((await client.call('GET', `/conversations?before=${second}`)).body).to.deep.equal(listed);
    expect((await client.call('GET', `/conversations?before=${id}`)).body).to.deep.equal([]);
  });

  it('are known again by what they chose, also when two of them come at once, and nothing changes', async () => {
    const chosen = { source_id: 'device 7/é', name: 'Bob' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => inbox.call('POST', 'contacts', chosen)));
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).to.equal(1);
    expect(await app.eventNames()).to.deep.equal(['contact_created']);
    const again = await enter({ source_id: 'device 7/é', name: 'Mallory' });
    expect(again.body.name).to.equal('Bob');
    expect((await again.call('GET')).body.name).to.equal('Bob');
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('do not get in by what an integration chose, which may be easy to guess', async () => {
    const { body } = await app.post('contacts', { name: 'Ann', inbox_id: inbox.id, source_id: '+14155552671' });
    expect((await inbox.call('GET', `contacts/${encodeURIComponent('+14155552671')}`)).status).to.equal(404);
    const claimed = await inbox.call('POST', 'contacts', { source_id: '+14155552671' });
    expect([claimed.status, claimed.body.details[0].path]).to.deep.equal([422, '/source_id']);
    // What the service made, for whoever asked, is a key.
    const { body: made } = await app.post(`contacts/${body.id}/contact_inboxes`, { inbox_id: inbox.id });
    expect((await inbox.call('GET', `contacts/${made.source_id}`)).body.name).to.equal('Ann');
  });

  it('change what they tell of their contact', async () => {
    const client = await enter({ name: 'Cid' });
    await app.events();
    const profile = { name: 'Cid Two', phone_number: '+14155552672', avatar_url: 'https://example.com/a.png' };
    const { status, body } = await client.call('PATCH', '', { ...profile, identifier: 'crm-9', blocked: true });
    expect([status, body.name, body.phone_number, body.identifier]).to.deep.equal([
      200,
      'Cid Two',
      '+14155552672',
      null,
    ]);
    expect((await app.get(`contacts/${client.id}`)).body).to.deep.include({
      thumbnail: 'https://example.com/a.png',
      blocked: false,
    });
    await client.call('PATCH', '', profile);
    expect(await app.eventNames()).to.deep.equal(['contact_updated']);
    expect((await client.call('PATCH', '', { email: 'nowhere' })).status).to.equal(422);
  });

  describe('prove who they are', () => {
    const proof = (secret: string, identifier: string) => ({
      identifier,
      identifier_hash: createHmac('sha256', secret).update(identifier).digest('hex'),
    });

    it('by the secret of the inbox; without, a claim is ignored', async () => {
      const desk = await Widget.create(app, { channel_type: 'Channel::Api' });
      const { identity_secret: secret } = (await app.post(`inboxes/${desk.id}/rotate_identity_secret`)).body;
      const tom = await addContact(app, { identifier: 'tom' });
      const claimed = await enter({ identifier: 'tom' }, desk);
      expect([claimed.id === tom, claimed.body.identifier]).to.deep.equal([false, null]);
      const proven = await enter(proof(secret, 'tom'), desk);
      expect([proven.id, proven.body.identifier]).to.deep.equal([tom, 'tom']);
      const again = await enter(proof(secret, 'tom'), desk);
      expect(again.source).to.equal(proven.source);
      const other = await enter({ ...proof(secret, 'tom'), source_id: 'second device' }, desk);
      expect([other.id, other.source]).to.deep.equal([tom, 'second device']);
      const grown = await desk.call('POST', 'contacts', { ...proof(secret, 'eve'), source_id: claimed.source });
      expect([grown.status, grown.body.id, grown.body.identifier]).to.deep.equal([201, claimed.id, 'eve']);
      const renamed = await desk.call('POST', 'contacts', { ...proof(secret, 'zoe'), source_id: claimed.source });
      expect(renamed.status).to.equal(422);
      const taken = await desk.call('POST', 'contacts', { ...proof(secret, 'tom'), source_id: claimed.source });
      expect(taken.status).to.equal(422);
      const wrong = await desk.call('POST', 'contacts', { ...proof('another', 'tom') });
      expect([wrong.status, wrong.body.details[0].path]).to.deep.equal([422, '/identifier_hash']);
    });
  });

  it('may do nothing but read when they are blocked', async () => {
    const client = await enter({ name: 'Dan' });
    const id = await client.begin();
    const { body: asked } = await app.post(`conversations/${id}/messages`, {
      content: 'Well?',
      message_type: 'outgoing',
      content_type: 'input_select',
      content_attributes: { items: [{ title: 'Yes', value: 'yes' }] },
    });
    await app.patch(`contacts/${client.id}`, { blocked: true });
    await app.events();
    const at = `/conversations/${id}`;
    const writes: [string, string, object][] = [
      ['PATCH', '', { name: 'Someone' }],
      ['POST', '/conversations', {}],
      ['POST', `${at}/messages`, { content: 'Hello' }],
      ['PATCH', `${at}/messages/${asked.id}`, { submitted_values: [{ value: 'yes' }] }],
      ['POST', `${at}/toggle_status`, {}],
      ['POST', `${at}/toggle_typing`, { typing_status: 'on' }],
    ];
    for (const [method, path, body] of writes) {
      const answer = await client.call(method, path, body);
      expect([method, path, answer.status, answer.body.code]).to.deep.equal([method, path, 403, 'contact_blocked']);
    }
    expect(await app.eventNames()).to.deep.equal([]);
    expect((await app.get(`contacts/${client.id}`)).body.name).to.equal('Dan');
    expect((await client.call('GET', `${at}/messages`)).status).to.equal(200);
    expect((await client.call('POST', `${at}/update_last_seen`)).status).to.equal(200);
  });

  it('resolve a conversation, once, and reopen it with a word', async () => {
    const client = await enter();
    const id = await client.begin();
    await app.events();
    const resolve = () => client.call('POST', `/conversations/${id}/toggle_status`);
    expect((await resolve()).body.status).to.equal('resolved');
    expect((await resolve()).body.status).to.equal('resolved');
    expect(await app.eventNames()).to.deep.equal(['conversation_status_changed']);
    await client.say(id, 'One more thing');
    expect((await client.call('GET', `/conversations/${id}`)).body.status).to.equal('open');
  });

  it('mark as read what was written to them, once', async () => {
    const client = await enter();
    const id = await client.begin();
    await app.post(`conversations/${id}/messages`, { content: 'Read me', message_type: 'outgoing' });
    await app.events();
    const { body } = await client.call('POST', `/conversations/${id}/update_last_seen`);
    expect(body.messages[0].status).to.equal('read');
    await client.call('POST', `/conversations/${id}/update_last_seen`);
    expect(await app.eventNames()).to.deep.equal(['message_updated']);
  });

  describe('answer a message that asks', () => {
    const ask = async (id: number, question: object): Promise<number> => {
      const asked = { content: 'Well?', message_type: 'outgoing', ...question };
      return (await app.post(`conversations/${id}/messages`, asked)).body.id;
    };
    const choice = {
      content_type: 'input_select',
      content_attributes: {
        items: [
          { title: 'Yes', value: 'yes' },
          { title: 'No', value: 'no' },
        ],
      },
    };

    it('by a choice, which stands in the message from then on', async () => {
      const client = await enter();
      const id = await client.begin();
      const question = await ask(id, choice);
      await app.events();
      const submit = (value: string) =>
        client.call('PATCH', `/conversations/${id}/messages/${question}`, { submitted_values: [{ value }] });
      const { status, body } = await submit('yes');
      expect([status, body.content_attributes]).to.deep.equal([
        200,
        { ...choice.content_attributes, submitted_values: [{ title: 'Yes', value: 'yes' }] },
      ]);
      await submit('yes');
      const [event, ...more] = await app.events();
      expect([event?.name, more]).to.deep.equal(['message_updated', []]);
      expect((await submit('maybe')).status).to.equal(422);
      expect((await submit('no')).body.content_attributes.submitted_values[0].value).to.equal('no');
      expect(await app.eventNames()).to.deep.equal(['message_updated']);
    });

    it('by an e-mail address, which becomes the contact’s', async () => {
      const client = await enter();
      const id = await client.begin();
      const question = await ask(id, { content_type: 'input_email' });
      const path = `/conversations/${id}/messages/${question}`;
      expect((await client.call('PATCH', path, { submitted_values: [{ value: 'nowhere' }] })).status).to.equal(422);
      const { body } = await client.call('PATCH', path, { submitted_values: [{ value: 'eve@example.com' }] });
      expect(body.content_attributes.submitted_email).to.equal('eve@example.com');
      expect((await client.call('GET')).body.email).to.equal('eve@example.com');
    });

    it('and no other', async () => {
      const client = await enter();
      const id = await client.begin();
      const plain = await ask(id, {});
      const secret = await ask(id, { ...choice, private: true });
      const values = { submitted_values: [{ value: 'yes' }] };
      const statuses = [];
      for (const message of [plain, secret, 4711])
        statuses.push((await client.call('PATCH', `/conversations/${id}/messages/${message}`, values)).status);
      expect(statuses).to.deep.equal([422, 404, 404]);
      const said = await client.call('POST', `/conversations/${id}/messages`, {
        content: 'yes',
        content_attributes: { in_reply_to: await ask(id, choice) },
      });
      expect(said.body.content_attributes.submitted_values[0].title).to.equal('Yes');
    });
  });

  it('say a thing once under an Idempotency-Key', async () => {
    const client = await enter();
    const id = await client.begin();
    const keyed = { 'idempotency-key': 'client-1' };
    const say = () => client.call('POST', `/conversations/${id}/messages`, { content: 'Once' }, keyed);
    expect((await say()).body).to.deep.equal((await say()).body);
    expect((await client.call('GET', `/conversations/${id}/messages`)).body).to.have.lengthOf(1);
  });

  it('see nothing of others', async () => {
    const [client, other] = [await enter(), await enter()];
    const theirs = await other.begin();
    await other.say(theirs, 'Mine');
    // Another inbox of the account, where the same identifier names somebody else.
    const desk = await Widget.create(app, { channel_type: 'Channel::Api' });
    const away = await enter({ source_id: client.source }, desk);
    const elsewhere = await away.begin();
    await app.events();
    for (const id of [theirs, elsewhere]) {
      const at = `/conversations/${id}`;
      for (const [method, path, body] of [
        ['GET', at],
        ['GET', `${at}/messages`],
        ['POST', `${at}/messages`, { content: 'Hello' }],
        ['POST', `${at}/toggle_status`, {}],
        ['POST', `${at}/toggle_typing`, { typing_status: 'on' }],
        ['POST', `${at}/update_last_seen`, {}],
        ['PATCH', `${at}/messages/1`, { submitted_values: [{ value: 'yes' }] }],
      ] as const) {
        const answer = await client.call(method, path, body);
        expect([method, path, answer.status, answer.body.error]).to.deep.equal([
          method,
          path,
          404,
          'Conversation not found',
        ]);
      }
    }
    expect((await client.call('GET', '/conversations')).body).to.deep.equal([]);
    expect((await desk.call('GET', `contacts/${other.source}`)).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('come to inboxes of the API alone, of whatever account', async () => {
    const page = await Widget.create(app);
    const { contactId } = await page.enter();
    const { body } = await app.post(`contacts/${contactId}/contact_inboxes`, { inbox_id: page.id });
    expect((await page.call('POST', 'contacts', {})).status).to.equal(404);
    expect((await page.call('GET', `contacts/${body.source_id}`)).status).to.equal(404);
    const elsewhere = await addAccount(app, 'Elsewhere');
    const path = `/api/v1/accounts/${elsewhere.id}/inboxes`;
    const theirs = await app.post(path, { name: 'Theirs' }, elsewhere.administrator.headers);
    const client = await enter();
    const there = `/public/api/v1/inboxes/${theirs.body.identifier}/contacts`;
    expect((await app.get(`${there}/${client.source}`)).status).to.equal(404);
    expect((await app.post(there, { source_id: client.source })).body.id).not.to.equal(client.id);
  });

  it('go on after a merge, and end with their contact', async () => {
    const client = await enter();
    const id = await client.begin();
    const base = await addContact(app, { name: 'Base' });
    const [merged, ...said] = await Promise.all([
      app.post('actions/contact_merge', { base_contact_id: base, mergee_contact_id: client.id }),
      ...['One', 'Two', 'Three', 'Four'].map((word) => client.say(id, word)),
    ]);
    expect([merged.status, ...said.map(({ status }) => status)]).to.deep.equal([200, 201, 201, 201, 201]);
    expect((await client.call('GET')).body).to.deep.include({ id: base, name: 'Base' });
    expect((await client.call('GET', `/conversations/${id}/messages`)).body).to.have.lengthOf(4);
    await app.delete(`contacts/${base}`);
    expect((await client.call('GET')).status).to.equal(404);
    expect((await client.say(id, 'Hello?')).status).to.equal(404);
  });

  it('are let out while their contact is deleted', async () => {
    const client = await enter();
    await app.query(
      `INSERT INTO conversations (account_id, inbox_id, contact_id, status) SELECT 1, $1, $2, 'open' FROM generate_series(1, 250)`,
      [inbox.id, client.id],
    );
    // The first batch of the deletion, and then the process dies.
    let batches = 0;
    const dying = deleteContact((work) => {
      if ((batches += 1) > 1) return Promise.reject(new Error('killed'));
      return transact(app.app.database, { account: { id: 1, name: 'Demo account' }, actor: system }, work);
    }, client.id);
    expect(await dying.catch((error: Error) => error.message)).to.equal('killed');
    expect((await client.call('GET')).status).to.equal(404);
  });

  it('of pages are readable from the origins that the inbox allows', async () => {
    const origin = 'https://www.example.com';
    const desk = await Widget.create(app, { channel_type: 'Channel::Api', allowed_origins: [origin] });
    const client = await enter({}, desk);
    const allowed = async (from: string): Promise<string | null> =>
      (await client.call('GET', '', undefined, { origin: from })).headers.get('access-control-allow-origin');
    expect([await allowed(origin), await allowed('https://evil.example.com')]).to.deep.equal([origin, null]);
  });
});
