import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { TestApp } from '../../support/app.ts';
import { Widget } from '../../support/widget.ts';

function proofBy(secret: string, identifier: string): { identifier: string; identifier_hash: string } {
  return { identifier, identifier_hash: createHmac('sha256', secret).update(identifier).digest('hex') };
}

/** An answer with what differs between any two sessions taken out. */
function masked(text: string): string {
  return text.replaceAll(/"id":\d+/g, '"id":0').replaceAll(/swc_\w+/g, 'swc');
}

describe('who a visitor of the widget is', () => {
  let app: TestApp;
  let widget: Widget;
  let secret: string;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { widgetSessionsPerMinute: 0 } });
    widget = await Widget.create(app);
    const { status, body } = await app.post(`inboxes/${widget.id}/rotate_identity_secret`);
    expect([status, body.identity_verification]).to.deep.equal([200, true]);
    secret = body.identity_secret;
  });

  beforeEach(() => app.events());

  after(() => app.stop());

  it('does not show by a claimed identifier: known or unknown, it is ignored', async () => {
    const { id } = (await app.post('contacts', { name: 'Tom', identifier: 'tom-1', email: 'tom@example.com' })).body;
    const { body: tom } = await app.get(`contacts/${id}`);
    const { headers } = await widget.enter();
    for (const held of [undefined, headers]) {
      const known = await widget.open({ name: 'Visitor', identifier: 'tom-1' }, held);
      const unknown = await widget.open({ name: 'Visitor', identifier: 'nobody-1' }, held);
      expect([known.status, unknown.status]).to.deep.equal([201, 201]);
      expect(masked(JSON.stringify(known.body))).to.equal(masked(JSON.stringify(unknown.body)));
      expect(known.body.contact.identifier).to.equal(null);
    }
    expect((await app.get(`contacts/${tom.id}`)).body).to.deep.equal(tom);
    // Nobody holds it back by having claimed it first.
    expect((await app.post('contacts', { name: 'Nobody', identifier: 'nobody-1' })).status).to.equal(201);
  });

  it('is proven by the site: the contact who has the identifier, on any device, with its conversation', async () => {
    const { body: ann } = await app.post('contacts', { name: 'Ann', identifier: 'ann-1', email: 'ann@example.com' });
    const first = await widget.enter(proofBy(secret, 'ann-1'));
    expect(first.body.contact).to.deep.include({ id: ann.id, name: 'Ann', email: 'ann@example.com' });
    expect(await app.eventNames()).to.deep.equal(['contact_created', 'webwidget_triggered']);
    await widget.say('Where is my parcel?', first.headers);
    const second = await widget.enter(proofBy(secret, 'ann-1'));
    expect(second.contactId).to.equal(ann.id);
    expect(second.headers).not.to.deep.equal(first.headers);
    expect((await widget.messages(second.headers)).map(({ content }) => content)).to.deep.equal([
      'Where is my parcel?',
    ]);
    const again = await widget.open(proofBy(secret, 'ann-1'), second.headers);
    expect(again.body).not.to.have.property('contact_token');
    expect((await widget.messages(first.headers)).length).to.equal(1);
  });

  it('is proven later: the contact of the token gets the identifier, unless it is somebody else', async () => {
    const { headers, contactId } = await widget.enter({ name: 'Bea' });
    const named = await widget.open(proofBy(secret, 'bea-1'), headers);
    expect(named.body.contact).to.deep.include({ id: contactId, identifier: 'bea-1' });
    expect(named.body).not.to.have.property('contact_token');
    expect((await app.events()).map(({ name }) => name).slice(-2)).to.deep.equal([
      'contact_updated',
      'webwidget_triggered',
    ]);
    // The next person at the same computer.
    const other = await widget.open(proofBy(secret, 'cleo-1'), headers);
    expect(other.body.contact).to.deep.include({ name: 'Visitor', identifier: 'cleo-1' });
    expect(other.body.contact.id).not.to.equal(contactId);
    expect(other.body.contact_token).to.match(/^swc_/);
    expect((await app.get(`contacts/${contactId}`)).body.identifier).to.equal('bea-1');
  });

  it('is one contact for two devices that prove the same new identifier at once', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => widget.open(proofBy(secret, 'dora-1'))));
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.contact.id)).size).to.equal(1);
    expect(new Set(answers.map(({ body }) => body.contact_token)).size).to.equal(4);
    expect((await app.eventNames()).filter((name) => name === 'contact_created')).to.have.lengthOf(1);
  });

  it('keeps so many devices: the oldest token goes', async () => {
    const devices = [];
    for (let count = 0; count < 21; count += 1) devices.push(await widget.enter(proofBy(secret, 'eve-1')));
    const stati = await Promise.all(
      devices.map(async ({ headers }) => (await widget.call('GET', 'messages', undefined, headers)).status),
    );
    expect(stati).to.deep.equal([401, ...Array.from({ length: 20 }, () => 200)]);
  });

  it('is refused with a wrong proof, whoever is known', async () => {
    await app.post('contacts', { name: 'Finn', identifier: 'finn-1' });
    await app.events();
    const other = proofBy(secret, 'somebody-else').identifier_hash;
    const plain = await Widget.create(app);
    for (const [at, identifier] of [
      [widget, 'finn-1'],
      [widget, 'nobody-2'],
      [plain, 'finn-1'],
    ] as const) {
      const hashes = [other, 'x', other.slice(1), proofBy('another secret', identifier).identifier_hash];
      for (const identifier_hash of hashes) {
        const { status, body } = await at.open({ identifier, identifier_hash });
        expect([status, body.details[0].path]).to.deep.equal([422, '/identifier_hash']);
      }
    }
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('is proven for a day by the secret before, and then by the new one alone', async () => {
    const shop = await Widget.create(app);
    const [first, second] = [
      (await app.post(`inboxes/${shop.id}/rotate_identity_secret`)).body.identity_secret,
      (await app.post(`inboxes/${shop.id}/rotate_identity_secret`)).body.identity_secret,
    ];
    const statusBy = async (one: string) => (await shop.open(proofBy(one, 'gil-1'))).status;
    expect([await statusBy(first), await statusBy(second)]).to.deep.equal([201, 201]);
    await app.query(`UPDATE inboxes SET previous_identity_secret_expires_at = now() WHERE id = $1`, [shop.id]);
    expect([await statusBy(first), await statusBy(second)]).to.deep.equal([422, 201]);
    const { body } = await app.get(`inboxes/${shop.id}`);
    expect(body).to.include({ identity_verification: true }).and.not.have.property('identity_secret');
    const [row] = await app.query<{ text: string }>(
      'SELECT row_to_json(i)::text AS text FROM inboxes i WHERE id = $1',
      [shop.id],
    );
    expect(row!.text).not.to.include(first).and.not.include(second);
  });
});

describe('what a visitor of the widget tells', () => {
  let app: TestApp;
  let widget: Widget;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { widgetSessionsPerMinute: 0, widgetBytesPerMinute: 100_000 } });
    widget = await Widget.create(app);
  });

  beforeEach(() => app.events());

  after(() => app.stop());

  it('stands apart from what people keep about the contact', async () => {
    const { headers, contactId } = await widget.enter({ custom_attributes: { plan: 'free', from: 'ad' } });
    await app.patch(`contacts/${contactId}`, { custom_attributes: { plan: 'gold' } });
    await app.events();
    await widget.open({ custom_attributes: { plan: 'diamond', from: null } }, headers);
    const { body } = await app.get(`contacts/${contactId}`);
    expect(body).to.deep.include({ custom_attributes: { plan: 'gold' }, visitor_attributes: { plan: 'diamond' } });
    const [updated] = await app.events();
    expect(updated!.account_payload).to.deep.include({
      custom_attributes: { plan: 'gold' },
      visitor_attributes: { plan: 'diamond' },
      changed_attributes: {
        visitor_attributes: { previous: { plan: 'free', from: 'ad' }, current: { plan: 'diamond' } },
      },
    });
  });

  it('is bounded, also where it grows bit by bit', async () => {
    const { headers, contactId } = await widget.enter({ custom_attributes: { one: 'x'.repeat(4000) } });
    for (const attributes of [{ two: 'x'.repeat(5000) }, { one: 'x'.repeat(9000) }]) {
      const { status, body } = await widget.open({ custom_attributes: attributes }, headers);
      expect([status, body.details[0].path]).to.deep.equal([422, '/custom_attributes']);
    }
    expect((await widget.open({ custom_attributes: { one: 'x'.repeat(9000) } })).status).to.equal(422);
    const { body } = await app.get(`contacts/${contactId}`);
    expect(body.visitor_attributes).to.deep.equal({ one: 'x'.repeat(4000) });
  });

  it('is so many bytes a minute from one address, over sessions, tokens and inboxes', async () => {
    const other = await Widget.create(app);
    const guests = [await widget.enter(), await other.enter()];
    const stati: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      const at = count % 2 === 0 ? widget : other;
      stati.push((await at.say('x'.repeat(10_000), guests[count % 2]!.headers)).status);
    }
    expect(stati.indexOf(429)).to.be.within(5, 10);
    expect(stati.slice(stati.indexOf(429)).every((status) => status === 429)).to.equal(true);
    const refused = await widget.open({ custom_attributes: { x: 'x'.repeat(8000) } });
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).to.deep.equal([429, true]);
    // People are not in that place.
    expect((await app.post('labels', { title: 'calm' })).status).to.equal(201);
  });
});

describe('the word of a visitor', () => {
  it('goes into the conversation that is not resolved, also when a newer one is', async () => {
    const app = await TestApp.start({ engine: false });
    const widget = await Widget.create(app);
    const { headers, contactId } = await widget.enter();
    const open = (await app.post('conversations', { inbox_id: widget.id, contact_id: contactId })).body.id;
    const resolved = (await app.post('conversations', { inbox_id: widget.id, contact_id: contactId })).body.id;
    await app.post(`conversations/${resolved}/toggle_status`, { status: 'resolved' });
    expect((await widget.say('Hello?', headers)).body.conversation_id).to.equal(open);
    expect((await app.get(`conversations/${resolved}`)).body.status).to.equal('resolved');
    await app.stop();
  });
});
