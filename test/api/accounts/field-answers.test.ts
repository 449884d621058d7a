import { expect } from 'chai';
import { adminToken, TestApp } from '../../support/app.ts';
import { Maker } from '../../support/maker.ts';

const soon = Math.floor(Date.now() / 1000) + 3600;
const mostBytes = 700;

describe('what clients of the field look for in answers and events', () => {
  let app: TestApp;
  let maker: Maker;
  let inbox: { id: number; name: string };
  const ada = {
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    phone_number: '+14155552671',
    identifier: '14155552671@s.whatsapp.net',
  };

  before(async () => {
    app = await TestApp.start({ engine: false });
    const administrator = { id: 1, headers: { api_access_token: adminToken } };
    maker = new Maker(app, 1, { mark: 'Alpha', administrator });
    inbox = (await app.get('inboxes')).body.payload[0];
  });

  after(() => app.stop());

  it('is a single contact under `payload`, the same in each answer, and no list has it', async () => {
    const { body: made } = await app.post('contacts', { name: 'Grace' });
    const { payload, ...record } = made;
    expect(payload).to.deep.equal({ contact: record });
    const { body: read } = await app.get(`contacts/${made.id}`);
    expect(read).to.deep.equal({ ...record, payload: record });
    const { body: changed } = await app.patch(`contacts/${made.id}`, { name: 'Grace Hopper' });
    expect(changed.payload).to.include({ id: made.id, name: 'Grace Hopper' });
    for (const path of ['contacts', 'contacts/search?q=Grace']) {
      const [listed] = (await app.get(path)).body.payload;
      expect(listed).to.include.keys('id', 'name').and.not.to.have.property('payload');
    }
  });

  it('is a new webhook under `payload.webhook`, with the secret that no later answer has', async () => {
    const { body } = await app.post('webhooks', { url: 'http://127.0.0.1:9/', subscriptions: ['message_created'] });
    const { payload, ...record } = body;
    expect(payload).to.deep.equal({ webhook: record });
    expect(record.secret).to.match(/^whsec_/);
    expect((await app.get(`webhooks/${body.id}`)).body).not.to.have.any.keys('payload', 'secret');
  });

  it('is what became of a status, beside the conversation', async () => {
    const id = await maker.conversation(inbox.id, { status: 'open' });
    const { body: snoozed } = await app.post(`conversations/${id}/toggle_status`, {
      status: 'snoozed',
      snoozed_until: soon,
    });
    const told = { success: true, current_status: 'snoozed' };
    expect(snoozed).to.include({ id, status: 'snoozed', snoozed_until: soon, ...told });
    expect(snoozed.payload).to.deep.equal({ ...told, conversation_id: id, snoozed_until: soon });
    // The second time it is so already.
    const again = await app.post(`conversations/${id}/toggle_status`, { status: 'open' });
    expect(again.body.payload).to.deep.equal({
      success: true,
      current_status: 'open',
      conversation_id: id,
      snoozed_until: null,
    });
    expect((await app.post(`conversations/${id}/toggle_status`, { status: 'open' })).body.payload.success).to.equal(
      true,
    );
  });

  it('is `inbox_identifier`, `availability_status`, and who the sender of a conversation is', async () => {
    const { body: read } = await app.get(`inboxes/${inbox.id}`);
    expect(read.inbox_identifier)
      .to.equal(read.identifier)
      .and.to.match(/^[0-9a-f-]{36}$/);
    for (const agent of (await app.get('agents')).body) expect(agent.availability_status).to.equal(agent.availability);
    const contactId = await maker.contact(ada);
    const id = await maker.conversation(inbox.id, { contact_id: contactId });
    const { body } = await app.get(`conversations/${id}`);
    expect(body.meta.sender).to.deep.equal({ id: contactId, ...ada, type: 'Contact' });
    const listed = (await app.get('conversations')).body.data.payload.find((one: { id: number }) => one.id === id);
    expect(listed.meta.sender).to.deep.equal(body.meta.sender);
    await app.call('DELETE', `contacts/${contactId}`);
  });

  it('is the inbox and the sender in the events of messages, which stay small', async () => {
    const contactId = await maker.contact(ada);
    const id = await maker.conversation(inbox.id, { contact_id: contactId });
    await app.events();
    const content = 'Where is my order? I have waited a week.';
    expect(content).to.have.lengthOf(40);
    const message = await maker.message(id, { content });
    await app.patch(`conversations/${id}/messages/${message}`, { content: 'Where is my order?' });
    await app.call('DELETE', `conversations/${id}/messages/${message}`);
    const events = (await app.events()).filter(({ name }) => name.startsWith('message_'));
    expect(events.map(({ name }) => name)).to.include.members([
      'message_created',
      'message_updated',
      'message_deleted',
    ]);
    for (const { account_payload: payload } of events) {
      expect(payload).to.deep.include({ inbox: { id: inbox.id, name: inbox.name } });
      expect(payload!['conversation']).to.deep.include({
        inbox_id: inbox.id,
        meta: { sender: { id: contactId, ...ada, type: 'Contact' } },
      });
    }
    // The contract's `actor` and `depth` say who acted: the bound is of what is told about the message.
    const { actor: _actor, depth: _depth, ...told } = events[0]!.account_payload!;
    expect(Buffer.byteLength(JSON.stringify(told))).to.be.at.most(mostBytes);
  });

  it('is of the customer alone: a sender who has left no traces shows null', async () => {
    const id = await maker.conversation(inbox.id);
    const { sender } = (await app.get(`conversations/${id}`)).body.meta;
    expect(sender).to.include({ email: null, phone_number: null, identifier: null });
  });
});
