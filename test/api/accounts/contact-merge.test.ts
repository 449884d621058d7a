import { expect } from 'chai';
import { maxMerged } from '../../../src/domain/contacts/merge.ts';
import { TestApp, type Answer } from '../../support/app.ts';
import { addAccount } from '../../support/people.ts';
import { addContact, addConversation, addInbox, addMessage } from '../../support/records.ts';
import { Widget } from '../../support/widget.ts';

describe('the merge of two contacts', function () {
  this.timeout(60_000);
  let app: TestApp;
  let inbox: number;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { widgetSessionsPerMinute: 0 } });
    inbox = await addInbox(app);
  });

  after(() => app.stop());

  beforeEach(() => app.events());

  const merge = (base: number, mergee: number, headers?: Record<string, string>): Promise<Answer> =>
    app.post('actions/contact_merge', { base_contact_id: base, mergee_contact_id: mergee }, headers);
  const conversationsOf = async (contact: number): Promise<number[]> => {
    const { body } = await app.get(`contacts/${contact}/conversations`);
    return body.payload.map(({ id }: { id: number }) => id).sort((one: number, other: number) => one - other);
  };

  /** Every table that refers to a contact, by its foreign keys. */
  async function referring(): Promise<string[]> {
    const rows = await app.query<{ name: string }>(
      `SELECT conrelid::regclass::text AS name FROM pg_constraint WHERE confrelid = 'contacts'::regclass AND contype = 'f'`,
    );
    return rows.map(({ name }) => name);
  }

  async function rowsOf(contact: number): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const table of await referring()) {
      const [row] = await app.query<{ count: number }>(`SELECT count(*) AS count FROM ${table} WHERE contact_id = $1`, [
        contact,
      ]);
      if (row!.count > 0) counts[table] = row!.count;
    }
    return counts;
  }

  it('gives the one all that belongs to the other, and says so', async () => {
    const base = await addContact(app, { email: 'base@example.com', custom_attributes: { plan: 'pro' } });
    const mergee = await addContact(app, {
      name: 'Other',
      email: 'other@example.com',
      phone_number: '+14155552671',
      identifier: 'crm-77',
      custom_attributes: { plan: 'free', city: 'Bonn' },
    });
    const [own, moved, resolved] = [
      await addConversation(app, inbox, { contactId: base }),
      await addConversation(app, inbox, { contactId: mergee, source_id: 'line-5' }),
      await addConversation(app, inbox, { contactId: mergee, status: 'resolved' }),
    ];
    for (const title of ['vip', 'base', 'both']) await app.post('labels', { title });
    await app.post(`contacts/${base}/labels`, { labels: ['base', 'both'] });
    await app.post(`contacts/${mergee}/labels`, { labels: ['both', 'vip'] });
    await app.post(`conversations/${moved}/labels`, { labels: ['vip'] });
    await addMessage(app, moved, 'Hello', { message_type: 'incoming' });
    await app.post(`contacts/${mergee}/notes`, { content: 'A note' });
    const before = (await app.get(`contacts/${mergee}`)).body;
    await app.events();

    const { status, body } = await merge(base, mergee);
    expect([status, body.id]).to.deep.equal([200, base]);
    expect(body).to.deep.include({
      email: 'base@example.com',
      phone_number: '+14155552671',
      identifier: 'crm-77',
      custom_attributes: { plan: 'pro', city: 'Bonn' },
      last_activity_at: before.last_activity_at,
    });
    expect((await app.get(`contacts/${base}`)).body.payload).to.deep.equal(body);
    expect(await conversationsOf(base)).to.deep.equal([own, moved, resolved]);
    const { body: conversation } = await app.get(`conversations/${moved}`);
    expect(conversation.labels).to.deep.equal(['vip']);
    expect(conversation.contact).to.deep.equal({ id: base, name: body.name, email: 'base@example.com' });
    const { payload } = (await app.get(`conversations/${moved}/messages`)).body;
    expect(payload[0].sender).to.deep.equal({ id: base, name: body.name, type: 'Contact' });
    const notes = (await app.get(`contacts/${base}/notes`)).body.payload;
    expect(notes.map(({ content }: { content: string }) => content)).to.deep.equal(['A note']);
    const found = await app.post('conversations', { inbox_id: inbox, source_id: 'line-5' });
    expect(found.body.contact.id).to.equal(base);

    const events = await app.events();
    expect(events.map(({ name, conversation_id: id }) => [name, id])).to.deep.equal([
      ['conversation_updated', moved],
      ['conversation_updated', resolved],
      ['contact_updated', null],
      ['contact_deleted', null],
      ['conversation_created', found.body.id],
    ]);
    const [updated, , changed, deleted] = events.map(({ account_payload: told }) => told!);
    expect(updated!['changed_attributes']).to.deep.equal({
      contact: {
        previous: { id: mergee, name: 'Other', email: 'other@example.com' },
        current: { id: base, name: body.name, email: 'base@example.com' },
      },
    });
    expect(Object.keys(changed!['changed_attributes'] as object)).to.have.members([
      'phone_number',
      'identifier',
      'custom_attributes',
      'labels',
    ]);
    expect((await app.get(`contacts/${base}/labels`)).body.payload).to.deep.equal(['base', 'both', 'vip']);
    expect(deleted).to.include({ id: mergee, merged_into_id: base });
    expect((await app.get(`contacts/${mergee}`)).status).to.equal(404);
    expect(await rowsOf(mergee)).to.deep.equal({});
  });

  it('is made once; with itself, with nobody and with a deleted contact it is refused', async () => {
    const [base, mergee] = [await addContact(app), await addContact(app)];
    expect((await merge(base, mergee)).status).to.equal(200);
    await app.events();
    expect((await merge(base, mergee)).status).to.equal(404);
    expect((await merge(4711, base)).status).to.equal(404);
    const itself = await merge(base, base);
    expect([itself.status, itself.body.details[0].path]).to.deep.equal([422, '/mergee_contact_id']);
    await app.query('UPDATE contacts SET deletion_requested_at = now() WHERE id = $1', [base]);
    const late = await addContact(app);
    await app.events();
    expect((await merge(late, base)).status).to.equal(404);
    expect((await merge(base, late)).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('leaves nothing behind in any table that refers to contacts', async () => {
    const widget = await Widget.create(app);
    const { headers, contactId: mergee } = await widget.enter({ custom_attributes: { page: '/prices' } });
    await widget.call('POST', 'messages', { content: 'Hello' }, { ...headers, 'idempotency-key': 'once' });
    await app.post(`contacts/${mergee}/notes`, { content: 'A note' });
    await app.post('labels', { title: 'left-behind' });
    await app.post(`contacts/${mergee}/labels`, { labels: ['left-behind'] });
    await app.query(
      `WITH bot AS (INSERT INTO agent_bots (account_id, name, kind, plugin_id, events) VALUES (1, 'Keeper', 'plugin', 'faq', '{}') RETURNING id)
       INSERT INTO bot_storage (account_id, agent_bot_id, contact_id, key, value, bytes, updated_at)
       SELECT 1, id, $1, 'language', '"de"', 12, now() FROM bot`,
      [mergee],
    );
    await app.query(
      `WITH hook AS (INSERT INTO hooks (account_id, agent_bot_id, owner_kind, name, handler, last_four)
         SELECT 1, id, 'agent_bot', 'Shop', 'orders', '0000' FROM agent_bots WHERE name = 'Keeper' LIMIT 1 RETURNING id),
       request AS (INSERT INTO hook_requests (account_id, hook_id, received_at, outcome, bytes, headers, body)
         SELECT 1, id, now(), 'accepted', 0, '[]', '' FROM hook RETURNING id)
       INSERT INTO hook_request_subjects (account_id, request_id, contact_id) SELECT 1, id, $1 FROM request`,
      [mergee],
    );
    const before = await rowsOf(mergee);
    // A table that is added has to be merged too: then it belongs into this test.
    expect(Object.keys(before)).to.have.members(await referring());
    const base = await addContact(app);
    const own = await rowsOf(base);
    expect((await merge(base, mergee)).status).to.equal(200);
    expect(await rowsOf(mergee)).to.deep.equal({});
    const after = await rowsOf(base);
    for (const [table, count] of Object.entries(before)) {
      // The base is said to have changed.
      const added = table === 'events' ? 1 : 0;
      expect(after[table], table).to.equal(count + (own[table] ?? 0) + added);
    }
    const { body } = await app.get(`contacts/${base}`);
    expect(body.visitor_attributes).to.deep.equal({ page: '/prices' });
  });

  it('keeps what bots stored of the base before that of the other', async () => {
    const [base, mergee] = [await addContact(app), await addContact(app)];
    await app.query(
      `WITH bot AS (INSERT INTO agent_bots (account_id, name, kind, plugin_id, events) VALUES (1, 'Keeper', 'plugin', 'faq', '{}') RETURNING id)
       INSERT INTO bot_storage (account_id, agent_bot_id, contact_id, key, value, bytes, updated_at)
       SELECT 1, id, whose, key, to_json(value), 10, now() FROM bot,
         (VALUES ($1::bigint, 'both', 'base'), ($2, 'both', 'other'), ($2, 'only', 'other')) AS s (whose, key, value)`,
      [base, mergee],
    );
    await merge(base, mergee);
    const kept = await app.query('SELECT key, value FROM bot_storage WHERE contact_id = $1 ORDER BY key', [base]);
    expect(kept).to.deep.equal([
      { key: 'both', value: 'base' },
      { key: 'only', value: 'other' },
    ]);
    const [sum] = await app.query<{ stored: number; told: number }>(
      `SELECT (SELECT sum(bytes) FROM bot_storage)::bigint AS stored,
         (SELECT coalesce(sum(bytes), 0) FROM bot_storage_changes)::bigint
           + (SELECT coalesce(sum(bytes), 0) FROM bot_storage_totals)::bigint AS told`,
    );
    expect(sum!.told).to.equal(sum!.stored);
  });

  it('holds a block of either', async () => {
    const [base, mergee] = [await addContact(app), await addContact(app, { blocked: true })];
    expect((await merge(base, mergee)).body.blocked).to.equal(true);
    const free = await addContact(app);
    expect((await merge(base, free)).body.blocked).to.equal(true);
  });

  describe('of somebody in the widget', () => {
    it('goes on with the same token, and repeats nothing that was sent before', async () => {
      const widget = await Widget.create(app);
      const { headers, contactId: mergee } = await widget.enter();
      const keyed = { ...headers, 'idempotency-key': 'queued-1' };
      const first = await widget.call('POST', 'messages', { content: 'Hello' }, keyed);
      const base = await addContact(app);
      await merge(base, mergee);
      await app.events();
      const again = await widget.call('POST', 'messages', { content: 'Hello' }, keyed);
      expect([again.status, again.body]).to.deep.equal([201, first.body]);
      expect(await app.eventNames()).to.deep.equal([]);
      const next = await widget.say('Still me', headers);
      expect([next.status, next.body.conversation_id]).to.deep.equal([201, first.body.conversation_id]);
      expect(await widget.messages(headers)).to.have.lengthOf(2);
      expect((await app.get(`conversations/${first.body.conversation_id}`)).body.contact.id).to.equal(base);
    });

    it('keeps the base’s answer under a key that both have used', async () => {
      const widget = await Widget.create(app);
      const [mine, theirs] = [await widget.enter(), await widget.enter()];
      const say = (content: string, { headers }: { headers: object }) =>
        widget.call('POST', 'messages', { content }, { ...headers, 'idempotency-key': 'both' });
      const kept = await say('Mine', mine);
      expect([kept.status, (await say('Theirs', theirs)).status]).to.deep.equal([201, 201]);
      expect((await merge(mine.contactId, theirs.contactId)).status).to.equal(200);
      await app.events();
      const again = await say('Mine', mine);
      expect([again.status, again.body]).to.deep.equal([201, kept.body]);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('loses no word that comes at the same moment', async () => {
      const widget = await Widget.create(app);
      for (let round = 0; round < 4; round++) {
        const { headers, contactId: mergee } = await widget.enter();
        const { conversation_id: id } = (await widget.say('First', headers)).body;
        const base = await addContact(app);
        const words = Array.from({ length: 6 }, (_, number) => `Word ${number}`);
        const [merged, ...said] = await Promise.all([
          merge(base, mergee),
          ...words.map((content) => widget.say(content, headers)),
        ]);
        expect([merged.status, ...said.map(({ status }) => status)]).to.deep.equal([200, ...words.map(() => 201)]);
        expect(await conversationsOf(base)).to.deep.equal([id]);
        const { payload } = (await app.get(`conversations/${id}/messages`)).body;
        const senders = payload.map(({ sender }: { sender: { id: number } }) => sender.id);
        expect(senders).to.deep.equal(Array.from({ length: 7 }, () => base));
      }
    });
  });

  it('leaves what is still to be delivered of the other, and tells its end after that', async () => {
    const { body: webhook } = await app.post('webhooks', {
      url: 'http://127.0.0.1:9/',
      subscriptions: ['contact_created', 'contact_updated', 'contact_deleted'],
    });
    const [base, mergee] = [await addContact(app), await addContact(app)];
    await merge(base, mergee);
    const waiting = await app.query<{ name: string; state: string }>(
      `SELECT e.name, d.state FROM deliveries d JOIN events e ON e.id = d.event_id JOIN lanes l ON l.id = d.lane_id
       WHERE l.subject_kind = 'contact' AND l.subject_id = $1 AND d.endpoint_id = $2 ORDER BY e.id`,
      [mergee, webhook.id],
    );
    expect(waiting).to.deep.equal([
      { name: 'contact_created', state: 'pending' },
      { name: 'contact_deleted', state: 'pending' },
    ]);
    await app.delete(`webhooks/${webhook.id}`);
  });

  it('in both directions at once happens in one', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, other] = [await addContact(app), await addContact(app)];
      const moved = [
        await addConversation(app, inbox, { contactId: one }),
        await addConversation(app, inbox, { contactId: other }),
      ];
      const answers = await Promise.all([merge(one, other), merge(other, one), merge(one, other)]);
      expect(answers.map(({ status }) => status).sort((left, right) => left - right)).to.deep.equal([200, 404, 404]);
      const { body } = answers.find(({ status }) => status === 200)!;
      expect(await conversationsOf(body.id)).to.deep.equal(moved);
    }
  });

  it('and conversations that begin meanwhile are the base’s, or are refused', async () => {
    const [base, mergee] = [await addContact(app), await addContact(app)];
    const begin = () => app.post('conversations', { inbox_id: inbox, contact_id: mergee });
    const [first, second, merged, ...rest] = await Promise.all([
      begin(),
      begin(),
      merge(base, mergee),
      ...Array.from({ length: 6 }, begin),
    ]);
    expect(merged.status).to.equal(200);
    const begun = [first, second, ...rest].filter(({ status }) => status === 201).map(({ body }) => body.id as number);
    const refused = [first, second, ...rest].filter(({ status }) => status !== 201);
    expect(refused.every(({ status }) => status === 404)).to.equal(true);
    expect(await conversationsOf(base)).to.deep.equal(begun.sort((one, other) => one - other));
  });

  it('moves so many conversations and no more; what is refused changes nothing', async () => {
    const [base, mergee] = [await addContact(app), await addContact(app)];
    const fill = (count: number) =>
      app.query(
        `INSERT INTO conversations (account_id, inbox_id, contact_id, status) SELECT 1, $1, $2, 'open' FROM generate_series(1, $3)`,
        [inbox, mergee, count],
      );
    await fill(maxMerged + 1);
    await app.events();
    const refused = await merge(base, mergee);
    expect([refused.status, refused.body.details[0].rule]).to.deep.equal([422, 'limit']);
    expect(await app.eventNames()).to.deep.equal([]);
    expect((await app.get(`contacts/${mergee}`)).status).to.equal(200);
    await app.query('DELETE FROM conversations WHERE id = (SELECT max(id) FROM conversations WHERE contact_id = $1)', [
      mergee,
    ]);
    expect((await merge(base, mergee)).status).to.equal(200);
    expect(await app.eventNames()).to.have.lengthOf(maxMerged + 1);
  });

  it('does not take two attributes that together are too large', async () => {
    const large = (name: string) => ({ custom_attributes: { [name]: 'x'.repeat(40_000) } });
    const [base, mergee] = [await addContact(app, large('one')), await addContact(app, large('other'))];
    await app.events();
    const { status, body } = await merge(base, mergee);
    expect([status, body.details[0].path]).to.deep.equal([422, '/custom_attributes']);
    expect((await app.get(`contacts/${mergee}`)).status).to.equal(200);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('takes no contact of another account', async () => {
    const elsewhere = await addAccount(app, 'Elsewhere');
    const { headers } = elsewhere.administrator;
    const theirs = (await app.post(`/api/v1/accounts/${elsewhere.id}/contacts`, { name: 'Theirs' }, headers)).body.id;
    const ours = await addContact(app);
    await app.events();
    expect((await merge(ours, theirs)).status).to.equal(404);
    expect((await merge(theirs, ours)).status).to.equal(404);
    expect((await app.get(`/api/v1/accounts/${elsewhere.id}/contacts/${theirs}`, headers)).status).to.equal(200);
    expect(await app.eventNames()).to.deep.equal([]);
  });
});
