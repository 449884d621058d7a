import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { World } from '../../support/world.ts';

describe('Chatwoot profile: contacts', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;
  let made = 0;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  beforeEach(() => world.app.eventNames());

  after(() => world.stop());

  const create = (fields: object = {}) => {
    made += 1;
    return theirs.succeed('POST', 'contacts', { name: `Caller ${made}`, ...fields });
  };
  // The fields that the models of their official Python SDK require, with their kinds.
  const slim = { avatar_url: '', channel_type: 'Channel::Api', provider: null };
  const ids = (list: { id: number }[]) => list.map(({ id }) => id);

  it('are created with their inbox, in one event, and answered in their wrappers', async () => {
    const { inbox } = world.home;
    const { payload } = await create({ inbox_id: String(inbox), email: 'New@example.com', phone_number: '' });
    const { contact, contact_inbox: place } = payload;
    expect(contact).to.deep.include({ email: 'New@example.com', phone_number: null, thumbnail: '' });
    expect(contact).to.deep.include({ availability_status: 'offline', custom_attributes: {} });
    expect(contact).not.to.have.property('last_activity_at');
    expect(place.source_id).to.be.a('string').and.not.equal('');
    const { name } = (await world.app.get(`inboxes/${inbox}`)).body;
    expect(place.inbox).to.deep.equal({ ...slim, id: inbox, channel_id: inbox, name });
    expect(contact.contact_inboxes).to.deep.equal([place]);
    expect(await world.app.eventNames()).to.deep.equal(['contact_created']);
    const single = await theirs.succeed('GET', `contacts/${contact.id}`);
    expect(single).to.deep.equal({ payload: contact });
  });

  it('without an inbox have none, without a name are called by what is known', async () => {
    const { payload } = await create({ inbox_id: 0, source_id: '' });
    expect(payload.contact_inbox).to.deep.equal({ inbox: null, source_id: null });
    expect(payload.contact.contact_inboxes).to.deep.equal([]);
    const nameless = await theirs.succeed('POST', 'contacts', { name: '', phone_number: '+491701234567' });
    expect(nameless.payload.contact.name).to.equal('+491701234567');
    const wrapped = await theirs.succeed('POST', 'contacts', { contact: { email: 'wrapped@example.com' } });
    expect(wrapped.payload.contact.name).to.equal('wrapped@example.com');
    const { status, body } = await theirs.post('contacts', {});
    expect([status, body.attributes]).to.deep.equal([422, ['name']]);
  });

  it('are changed by PUT and PATCH, and keep what nobody touched', async () => {
    const { payload } = await create({ email: 'kept@example.com', custom_attributes: { plan: 'free' } });
    const { id } = payload.contact;
    await world.app.eventNames();
    const blanks = { name: '', email: '', phone_number: '', identifier: '', avatar_url: '', avatar: '' };
    const body = { ...blanks, phone_number: '+491701234568', custom_attributes: '{"size":"L"}' };
    const changed = await theirs.succeed('PUT', `contacts/${id}`, body);
    expect(changed.payload).to.deep.include({ id, name: `Caller ${made}`, email: 'kept@example.com' });
    expect(changed.payload).to.deep.include({ custom_attributes: { plan: 'free', size: 'L' } });
    expect(await world.app.eventNames()).to.deep.equal(['contact_updated']);
    expect((await theirs.succeed('PATCH', `contacts/${id}`, { name: 'Ada' })).payload.name).to.equal('Ada');
  });

  it('that others have are refused with their sentences', async () => {
    await create({ email: 'twice@example.com', identifier: 'twice' });
    const { status, body } = await theirs.post('contacts', { name: 'Second', identifier: 'twice' });
    expect(status).to.equal(422);
    expect(body).to.deep.include({ message: 'Identifier has already been taken', attributes: ['identifier'] });
    expect(body.error).to.be.a('string');
    const phone = await theirs.post('contacts', { name: 'Second', phone_number: '0170' });
    expect(phone.body).to.deep.include({
      message: 'Phone number should be in e164 format',
      attributes: ['phone_number'],
    });
    const both = await theirs.post('contacts', { name: 'x', phone_number: '0170', email: 'nobody' });
    expect(both.body.attributes).to.have.members(['phone_number', 'email']);
    expect(both.body.message).to.include(', ');
  });

  it('are listed with their inboxes, sorted as theirs', async () => {
    const first = await create({ inbox_id: world.home.inbox, name: 'AAA first' });
    const second = await create({ name: 'AAB second' });
    const mine = [first, second].map(({ payload }) => payload.contact.id as number);
    const list = async (query: string) => theirs.succeed('GET', `contacts?${query}`);
    const { payload, meta } = await list('sort=name&page=');
    expect(ids(payload).filter((id) => mine.includes(id))).to.deep.equal(mine);
    expect(payload.find(({ id }: { id: number }) => id === mine[0]).contact_inboxes).to.have.length(1);
    expect(meta).to.include.keys('count', 'current_page', 'has_more');
    const order = async (sort: string) => ids((await list(`sort=${sort}`)).payload).filter((id) => mine.includes(id));
    expect(await order('-created_at')).to.deep.equal(mine.toReversed());
    expect(ids((await list('sort=created_at')).payload)).to.deep.equal(
      ids((await world.app.get('contacts?sort=-created_at')).body.payload),
    );
    expect(await order('company_name,-created_at')).to.deep.equal(mine.toReversed());
    expect((await list('sort=nonsense')).payload).to.deep.equal((await list('')).payload);
  });

  it('are found by words and by conditions, phone numbers without their plus too', async () => {
    const { payload } = await create({ phone_number: '+5511999998888', identifier: 'jid@example' });
    const { id } = payload.contact;
    const search = await theirs.succeed('GET', 'contacts/search?q=5511999998888&sort=name&page=');
    expect(ids(search.payload)).to.deep.equal([id]);
    expect(search.meta).to.include({ count: 1, has_more: false });
    const filter = async (conditions: object[]) =>
      ids((await theirs.succeed('POST', 'contacts/filter', { payload: conditions })).payload);
    const phone = { attribute_key: 'phone_number', filter_operator: 'equal_to', query_operator: 'OR' };
    const identifier = { attribute_key: 'identifier', filter_operator: 'equal_to', values: ['jid@example'] };
    expect(await filter([{ ...phone, values: ['5511999998888'] }, identifier])).to.deep.equal([id]);
    expect(await filter([{ ...phone, values: ['+5511999998888'], query_operator: null }])).to.deep.equal([id]);
    expect(await filter([{ ...identifier, values: 'jid@example' }])).to.deep.equal([id]);
    expect(
      (await theirs.post('contacts/filter', { payload: [{ ...phone, filter_operator: 'like' }] })).status,
    ).to.equal(422);
  });

  it('have the addresses of no other contact, as there, and beside others who want the same', async () => {
    const email = 'one-of-a-kind@example.com';
    const first = await create({ email, phone_number: '+491701234599' });
    await world.app.eventNames();
    const refusal = async (method: string, path: string, body: object) => {
      const { status, body: answer } = await theirs.call(method, path, body);
      return [status, answer.message, answer.attributes];
    };
    const taken = [422, 'Email has already been taken', ['email']];
    expect(await refusal('POST', 'contacts', { name: 'x', email: 'One-Of-A-Kind@Example.com' })).to.deep.equal(taken);
    const both = { name: 'x', email, phone_number: '+491701234599' };
    expect(await refusal('POST', 'contacts', both)).to.deep.equal([
      422,
      'Email has already been taken, Phone number has already been taken',
      ['email', 'phone_number'],
    ]);
    expect(await world.app.eventNames()).to.deep.equal([]);
    const { id } = first.payload.contact;
    const other = (await create()).payload.contact.id;
    expect(await refusal('PATCH', `contacts/${other}`, { email })).to.deep.equal(taken);
    expect((await theirs.succeed('PATCH', `contacts/${id}`, { email, name: 'Same' })).payload.name).to.equal('Same');
    const key = { 'idempotency-key': 'a contact once' };
    const keyed = { name: 'Keyed', email: 'keyed-once@example.com' };
    const answers = [await theirs.post('contacts', keyed, key), await theirs.post('contacts', keyed, key)];
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    const races = Array.from({ length: 6 }, () => theirs.post('contacts', { name: 'x', email: 'race@example.com' }));
    const statuses = (await Promise.all(races)).map(({ status }) => status);
    expect(statuses).to.have.members([200, 422, 422, 422, 422, 422]);
    // Ours has several contacts with one address, unless it is asked otherwise; another account's are nobody's business.
    expect((await world.app.post('contacts', { name: 'x', email })).status).to.equal(201);
    const elsewhere = `/api/v1/accounts/${world.other.maker.accountId}/contacts`;
    expect((await theirs.post(elsewhere, { name: 'x', email }, world.other.administrator.headers)).status).to.equal(
      200,
    );
    await world.app.delete(`contacts/${id}`);
  });

  it('are merged, noted and deleted', async () => {
    const [one, two] = [await create(), await create({ identifier: 'goes' })];
    const [base, other] = [one.payload.contact.id, two.payload.contact.id];
    const note = await theirs.succeed('POST', `contacts/${base}/notes`, { content: 'Calls back' });
    expect(note).to.include({ content: 'Calls back', contact_id: base });
    const notes = await theirs.succeed('GET', `contacts/${base}/notes`);
    expect(notes).to.be.an('array');
    expect(ids(notes)).to.deep.equal([note.id]);
    const merged = await theirs.succeed('POST', 'actions/contact_merge', {
      base_contact_id: String(base),
      mergee_contact_id: other,
    });
    expect(merged).to.include({ id: base, identifier: 'goes', thumbnail: '' });
    expect((await theirs.call('DELETE', `contacts/${base}`)).status).to.equal(200);
    const gone = await theirs.get(`contacts/${base}`);
    expect([gone.status, gone.body.error]).to.deep.equal([404, 'Resource could not be found']);
  });

  it('have places in inboxes and conversations', async () => {
    const { inbox, contact } = world.home;
    const { payload } = await create();
    const { id } = payload.contact;
    const place = await theirs.succeed('POST', `contacts/${id}/contact_inboxes`, { inbox_id: inbox, source_id: '' });
    expect(place.source_id).to.be.a('string').and.not.equal('');
    expect(place.inbox).to.include({ ...slim, id: inbox, channel_id: inbox });
    const can = await theirs.succeed('GET', `contacts/${id}/contactable_inboxes`);
    expect(can.payload.map((one: { inbox: { id: number } }) => one.inbox.id)).to.include(inbox);
    const { payload: conversations } = await theirs.succeed('GET', `contacts/${contact}/conversations`);
    expect(conversations[0].messages).to.be.an('array');
    expect((await theirs.get(`contacts/${world.other.contact}`)).status).to.equal(404);
  });

  it('can begin in each contactable inbox by the source id that it is answered with', async () => {
    const contact = await world.home.maker.contact();
    const { inbox } = world.home;
    const { payload } = await theirs.succeed('GET', `contacts/${contact}/contactable_inboxes`);
    expect(payload.length).to.be.greaterThan(0);
    for (const place of payload) {
      expect(place.source_id).to.be.a('string').and.not.equal('');
      expect(place.inbox).to.include.keys('id', 'name', 'channel_type', 'channel_id', 'avatar_url', 'provider');
    }
    const { source_id: source } = payload.find((one: { inbox: { id: number } }) => one.inbox.id === inbox);
    const body = { inbox_id: inbox, contact_id: contact, source_id: source };
    const opened = await theirs.succeed('POST', 'conversations', body);
    expect(opened.meta.sender.id).to.equal(contact);
    const again = await theirs.succeed('GET', `contacts/${contact}/contactable_inboxes`);
    expect(again.payload.find((one: { inbox: { id: number } }) => one.inbox.id === inbox).source_id).to.equal(source);
  });

  it('show an agent no place without its source id: clients need one everywhere', async () => {
    const { inbox, outsider } = world.home;
    const { payload } = await create({ inbox_id: inbox });
    const { id } = payload.contact;
    const mine = await theirs.succeed('GET', `contacts/${id}`);
    expect(mine.payload.contact_inboxes).to.have.length(1);
    const seen = await theirs.call('GET', `contacts/${id}`, undefined, outsider.headers);
    expect(seen.body.payload.contact_inboxes).to.deep.equal([]);
    const { body } = await theirs.call('GET', `contacts/search?q=Caller%20${made}`, undefined, outsider.headers);
    expect(body.payload.map((one: { contact_inboxes: object[] }) => one.contact_inboxes)).to.deep.equal([[]]);
  });

  it('are answered anew though nothing of ours changed: no tag', async () => {
    const { payload } = await create();
    const path = `contacts/${payload.contact.id}`;
    const tag = (await world.app.get(path)).headers.get('etag')!;
    const { status, headers } = await theirs.get(path, { 'if-none-match': tag });
    expect([status, headers.get('etag')]).to.deep.equal([200, null]);
    expect((await world.app.get(path, { 'if-none-match': tag })).status).to.equal(304);
  });
});
