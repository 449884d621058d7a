import { expect } from 'chai';
import { maxSourceIds } from '../../../src/records/contacts/source-ids.ts';
import { TestApp, type Answer } from '../../support/app.ts';
import { addAccount, addPerson } from '../../support/people.ts';
import { addContact, addConversation, addInbox } from '../../support/records.ts';
import { Widget } from '../../support/widget.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('the inboxes of contacts', () => {
  let app: TestApp;
  let inbox: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    inbox = await addInbox(app);
  });

  after(() => app.stop());

  beforeEach(() => app.events());

  const add = (contact: number, body: object, headers?: Record<string, string>): Promise<Answer> =>
    app.post(`contacts/${contact}/contact_inboxes`, body, headers);
  const list = async (contact: number, headers?: Record<string, string>): Promise<(string | null)[]> => {
    const { status, body } = await app.get(`contacts/${contact}/contact_inboxes`, headers);
    expect(status).to.equal(200);
    return body.payload.map((one: { source_id: string | null }) => one.source_id);
  };

  it('are given to a contact with its creation', async () => {
    const { status, body } = await app.post('contacts', { name: 'Ada', inbox_id: inbox, source_id: 'ada@phone' });
    expect(status).to.equal(201);
    expect(body.contact_inbox).to.deep.equal({
      source_id: 'ada@phone',
      inbox: { id: inbox, name: body.contact_inbox.inbox.name, channel_type: 'Channel::Api', avatar_url: null },
    });
    expect(await app.eventNames()).to.deep.equal(['contact_created']);
    expect(await list(body.id)).to.deep.equal(['ada@phone']);
    const { body: alone } = await app.post('contacts', { name: 'Bob' });
    expect(alone).not.to.have.property('contact_inbox');
    expect(await list(alone.id)).to.deep.equal([]);
  });

  it('and nothing is created where the identifier is taken, or the inbox is not there', async () => {
    const own = { name: 'First', inbox_id: inbox, source_id: 'taken' };
    await app.post('contacts', own);
    await app.events();
    const again = await app.post('contacts', own);
    expect(again.status).to.equal(422);
    expect(again.body.details[0]).to.include({ path: '/source_id', rule: 'unique' });
    expect((await app.post('contacts', { ...own, inbox_id: 4711 })).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
    const [{ count }] = (await app.query<{ count: number }>(
      `SELECT count(*) AS count FROM contacts WHERE name = 'First'`,
    )) as [{ count: number }];
    expect(count).to.equal(1);
  });

  it('are added; the second time nothing is new; another contact cannot have the same', async () => {
    const [one, other] = [await addContact(app), await addContact(app)];
    const first = await add(one, { inbox_id: inbox, source_id: 'crm-1' });
    expect([first.status, first.body.source_id]).to.deep.equal([201, 'crm-1']);
    const second = await add(one, { inbox_id: inbox, source_id: 'crm-1' });
    expect([second.status, second.body]).to.deep.equal([200, first.body]);
    expect((await add(other, { inbox_id: inbox, source_id: 'crm-1' })).status).to.equal(422);
    expect(await list(other)).to.deep.equal([]);
    // In another inbox it is another identifier.
    expect((await add(other, { inbox_id: await addInbox(app), source_id: 'crm-1' })).status).to.equal(201);
    const made = await add(one, { inbox_id: inbox });
    expect(made.body.source_id).to.match(uuid);
    expect(await list(one)).to.deep.equal([made.body.source_id, 'crm-1']);
    expect(await app.eventNames()).to.deep.equal(['contact_created', 'contact_created']);
  });

  it('go to one of two contacts who are given the same at the same time', async () => {
    const contacts = await Promise.all(Array.from({ length: 6 }, () => addContact(app)));
    const answers = await Promise.all(contacts.map((id) => add(id, { inbox_id: inbox, source_id: 'race' })));
    expect(answers.map(({ status }) => status).sort((one, other) => one - other)).to.deep.equal([
      201, 422, 422, 422, 422, 422,
    ]);
  });

  it('are addresses where the channel has them', async () => {
    const contact = await addContact(app, { email: 'mail@example.com', phone_number: '+14155552671' });
    const made = async (channel: string): Promise<number> =>
      (await app.post('inboxes', { name: channel, channel_type: channel })).body.id;
    const [email, whatsapp, widget] = [
      await made('Channel::Email'),
      await made('Channel::Whatsapp'),
      await made('Channel::WebWidget'),
    ];
    const { body } = await app.get(`contacts/${contact}/contactable_inboxes`);
    const reached = new Map<number, string | null>(
      body.payload.map((one: Answer['body']) => [one.inbox.id, one.source_id]),
    );
    expect([reached.get(email), reached.get(whatsapp)]).to.deep.equal(['mail@example.com', '14155552671']);
    expect(reached.get(inbox), 'one is made with the conversation').to.equal(null);
    expect(reached.has(widget), 'a page must have been visited').to.equal(false);
    expect((await add(contact, { inbox_id: email })).body.source_id).to.equal('mail@example.com');
    expect(await list(contact)).to.deep.equal(['mail@example.com']);
  });

  it('are bounded in number', async () => {
    const contact = await addContact(app);
    for (let number = 1; number <= maxSourceIds; number++)
      expect((await add(contact, { inbox_id: inbox, source_id: `many-${number}` })).status).to.equal(201);
    const beyond = await add(contact, { inbox_id: inbox, source_id: 'many-too-many' });
    expect(beyond.body.details[0]).to.include({ path: '/source_id', rule: 'limit' });
    expect((await add(contact, { inbox_id: inbox, source_id: 'many-1' })).status).to.equal(200);
    // A conversation may still have an identifier of its own.
    const id = await addConversation(app, inbox, { contactId: contact, source_id: 'many-conversation' });
    expect((await app.get(`conversations/${id}`)).body.source_id).to.equal('many-conversation');
    expect(await list(contact)).to.have.lengthOf(maxSourceIds);
  });

  describe('of conversations', () => {
    it('are made with them, once', async () => {
      const contact = await addContact(app);
      await addConversation(app, inbox, { contactId: contact });
      const [made] = await list(contact);
      expect(made).to.match(uuid);
      await addConversation(app, inbox, { contactId: contact });
      expect(await list(contact)).to.deep.equal([made]);
      await addConversation(app, inbox, { contactId: contact, source_id: 'thread-1' });
      await addConversation(app, inbox, { contactId: contact, source_id: 'thread-1' });
      expect(await list(contact)).to.deep.equal(['thread-1', made]);
      const { body } = await app.get('contacts?include_contact_inboxes=true&sort=-created_at');
      const { body: all } = await app.get('contacts?include_contact_inboxes=true&sort=created_at');
      const found = [...body.payload, ...all.payload].find(({ id }: { id: number }) => id === contact);
      expect(found.contact_inboxes.map((one: { source_id: string }) => one.source_id)).to.deep.equal(['thread-1']);
    });

    it('are no keys to the public door, unless they were made', async () => {
      const contact = await addContact(app);
      await addConversation(app, inbox, { contactId: contact });
      await addConversation(app, inbox, { contactId: contact, source_id: 'mail-thread-7' });
      const [chosen, made] = await list(contact);
      const [{ identifier }] = (await app.query<{ identifier: string }>(
        'SELECT identifier FROM inboxes WHERE id = $1',
        [inbox],
      )) as [{ identifier: string }];
      const enter = async (source: string | null | undefined) =>
        (await app.get(`/public/api/v1/inboxes/${identifier}/contacts/${source}`)).status;
      expect([chosen, await enter(chosen), await enter(made)]).to.deep.equal(['mail-thread-7', 404, 200]);
    });

    it('leave an identifier with the contact who has it', async () => {
      const [one, other] = [await addContact(app), await addContact(app)];
      await addConversation(app, inbox, { contactId: one, source_id: 'shared' });
      const id = await addConversation(app, inbox, { contactId: other, source_id: 'shared' });
      expect((await app.get(`conversations/${id}`)).body.source_id).to.equal('shared');
      expect(await list(one)).to.deep.equal(['shared']);
      expect((await list(other))[0]).to.match(uuid);
    });

    it('name the contact of a new one', async () => {
      const contact = await addContact(app);
      await add(contact, { inbox_id: inbox, source_id: 'known-by' });
      await app.events();
      const { status, body } = await app.post('conversations', { inbox_id: inbox, source_id: 'known-by' });
      expect(status).to.equal(201);
      expect([body.contact.id, body.source_id, body.inbox_id]).to.deep.equal([contact, 'known-by', inbox]);
      expect(await app.eventNames()).to.deep.equal(['conversation_created']);
      const nobody = await app.post('conversations', { inbox_id: inbox, source_id: 'unknown' });
      expect([nobody.status, nobody.body.error]).to.deep.equal([404, 'Contact not found']);
      const nowhere = await app.post('conversations', { inbox_id: 4711, source_id: 'known-by' });
      expect([nowhere.status, nowhere.body.error]).to.deep.equal([404, 'Inbox not found']);
      for (const blank of [{}, { source_id: null }]) {
        const { status: refused, body: why } = await app.post('conversations', { inbox_id: inbox, ...blank });
        expect([refused, why.details]).to.deep.equal([
          422,
          [{ path: '/contact_id', rule: 'required', message: '`contact_id` is missing' }],
        ]);
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('begin in the widget too', async () => {
      const widget = await Widget.create(app);
      const { headers, contactId } = await widget.enter();
      await widget.say('Hello', headers);
      expect((await list(contactId))[0]).to.match(uuid);
    });
  });

  it('of another account name nobody, and may have the same identifiers', async () => {
    const elsewhere = await addAccount(app, 'Elsewhere');
    const theirs = '/api/v1/accounts/' + elsewhere.id;
    const headers = elsewhere.administrator.headers;
    const { body: foreign } = await app.post(`${theirs}/inboxes`, { name: 'Theirs' }, headers);
    const own = await app.post('contacts', { name: 'Ours', inbox_id: inbox, source_id: 'everywhere' });
    const other = { name: 'Theirs', inbox_id: foreign.id, source_id: 'everywhere' };
    expect((await app.post(`${theirs}/contacts`, other, headers)).status).to.equal(201);
    expect((await add(own.body.id, { inbox_id: foreign.id, source_id: 'x' })).status).to.equal(404);
    expect((await app.post('conversations', { inbox_id: foreign.id, source_id: 'everywhere' })).status).to.equal(404);
    const { status } = await app.post(`${theirs}/conversations`, { inbox_id: inbox, source_id: 'everywhere' }, headers);
    expect(status).to.equal(404);
    expect((await app.get(`${theirs}/contacts/${own.body.id}/contact_inboxes`, headers)).status).to.equal(404);
  });

  it('hide from agents outside the inbox what would let them in', async () => {
    const [inside, outside] = [await addPerson(app, { name: 'Inside' }), await addPerson(app, { name: 'Outside' })];
    const desk = await addInbox(app, { members: [inside] });
    const contact = await addContact(app);
    await app.patch(`contacts/${contact}`, { identifier: 'who-hides' });
    await add(contact, { inbox_id: desk, source_id: 'chosen' });
    const { source_id: made } = (await add(contact, { inbox_id: desk })).body;
    expect(await list(contact, inside.headers)).to.deep.equal([made, 'chosen']);
    expect(await list(contact, outside.headers)).to.deep.equal([null, 'chosen']);
    for (const [who, seen] of [
      [inside, made],
      [outside, null],
    ] as const) {
      const { body } = await app.get('contacts?include_contact_inboxes=true&sort=-created_at', who.headers);
      const { body: rest } = await app.get('contacts?include_contact_inboxes=true&sort=created_at', who.headers);
      const found = [...body.payload, ...rest.payload].find(({ id }: { id: number }) => id === contact);
      expect(found.contact_inboxes[0].source_id).to.equal(seen);
      const asked = 'include_contact_inboxes=true';
      const payload = [{ attribute_key: 'identifier', filter_operator: 'equal_to', values: ['who-hides'] }];
      for (const { body: page } of [
        await app.get(`contacts/search?q=who-hides&${asked}`, who.headers),
        await app.post(`contacts/filter?${asked}`, { payload }, who.headers),
      ]) {
        expect(page.payload[0].contact_inboxes).to.deep.equal([
          { source_id: seen, inbox: found.contact_inboxes[0].inbox },
        ]);
        expect(page.meta.count).to.equal(1);
      }
      const { body: plain } = await app.post('contacts/filter', { payload }, who.headers);
      expect(plain.payload[0]).not.to.have.property('contact_inboxes');
    }
    const { body } = await app.get(`contacts/${contact}/contactable_inboxes`, outside.headers);
    expect(body.payload).to.deep.equal([]);
    expect((await add(contact, { inbox_id: desk, source_id: 'more' }, outside.headers)).status).to.equal(403);
    expect((await add(contact, { inbox_id: desk, source_id: 'more' }, inside.headers)).status).to.equal(201);
  });

  it('go with their contact and with their inbox', async () => {
    const contact = await addContact(app);
    const gone = await addInbox(app);
    await add(contact, { inbox_id: inbox, source_id: 'goes-with-contact' });
    await add(contact, { inbox_id: gone, source_id: 'goes-with-inbox' });
    expect((await app.delete(`inboxes/${gone}`)).status).to.equal(200);
    expect(await list(contact)).to.deep.equal(['goes-with-contact']);
    expect((await app.delete(`contacts/${contact}`)).status).to.equal(200);
    expect((await app.post('conversations', { inbox_id: inbox, source_id: 'goes-with-contact' })).status).to.equal(404);
    expect((await add(await addContact(app), { inbox_id: inbox, source_id: 'goes-with-contact' })).status).to.equal(
      201,
    );
  });
});
