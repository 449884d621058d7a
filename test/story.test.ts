import { expect } from 'chai';
import { Receiver, verify } from './support/receiver.ts';
import { TestApp } from './support/app.ts';

const bodies = (receiver: Receiver) => receiver.received.map(({ body }) => body);

describe('the way of a message', () => {
  let app: TestApp;
  let receiver: Receiver;
  let secret: string;
  let contactId: number;
  let conversationId: number;

  before(async () => {
    app = await TestApp.start();
    receiver = await Receiver.start();
    await app.events();
  });

  after(async () => {
    await app.stop();
    await receiver.close();
  });

  it('a webhook is registered, and its secret shown once', async () => {
    const { status, body } = await app.post('webhooks', {
      url: receiver.url,
      subscriptions: ['message_created', 'conversation_status_changed'],
    });
    expect(status).to.equal(201);
    expect(body).to.include({ url: receiver.url, active: true, inbox_id: null });
    expect(body.secret).to.match(/^whsec_/);
    ({ secret } = body);
    const list = await app.get('webhooks');
    expect(list.body.payload).to.have.lengthOf(1);
    expect(list.body.payload[0]).not.to.have.property('secret');
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('a contact is created', async () => {
    const { status, body } = await app.post('contacts', { name: 'Demo Customer', email: 'customer@example.com' });
    expect(status).to.equal(201);
    expect(body).to.include({ name: 'Demo Customer', email: 'customer@example.com', blocked: false });
    contactId = body.id;
    expect(await app.eventNames()).to.deep.equal(['contact_created']);
  });

  it('a conversation in an inbox with a bot begins pending', async () => {
    const inboxes = await app.get('inboxes');
    const { status, body } = await app.post('conversations', {
      inbox_id: inboxes.body.payload[0].id,
      contact_id: contactId,
    });
    expect(status).to.equal(201);
    expect(body.status).to.equal('pending');
    expect(body.contact).to.deep.equal({ id: contactId, name: 'Demo Customer', email: 'customer@example.com' });
    expect(body.meta.agent_bot).to.have.property('id');
    conversationId = body.id;
    expect(await app.eventNames()).to.deep.equal(['conversation_created']);
  });

  it('the bot answers the customer, and the receiver hears both in order, the first again after a failure', async () => {
    receiver.answerWith((_, response) => {
      response.statusCode = receiver.received.length === 1 ? 500 : 200;
      response.end();
    });
    const sent = await app.post(`conversations/${conversationId}/messages`, {
      content: 'What are your opening hours?',
      message_type: 'incoming',
    });
    expect(sent.status).to.equal(201);
    expect(sent.body).to.deep.include({
      content: 'What are your opening hours?',
      message_type: 'incoming',
      private: false,
      content_type: 'text',
      sender: { id: contactId, name: 'Demo Customer', type: 'Contact' },
    });
    const answers = await app.eventually(async () => {
      const { body } = await app.get(`conversations/${conversationId}/messages`);
      return body.payload.length === 2 && body.payload;
    });
    expect(answers[1]).to.deep.include({ message_type: 'outgoing', private: false });
    expect(answers[1].sender.type).to.equal('AgentBot');
    expect(await app.eventNames()).to.deep.equal(['message_created', 'message_created', 'conversation_updated']);

    await receiver.waitFor(3);
    const [first, again, second] = receiver.received;
    for (const post of [first!, again!, second!]) verify(secret, post);
    expect(first!.headers['webhook-id']).to.equal(again!.headers['webhook-id']);
    expect(second!.headers['webhook-id']).not.to.equal(first!.headers['webhook-id']);
    expect([first, again, second].map((post) => post!.headers['webhook-attempt'])).to.deep.equal(['1', '2', '1']);
    // The schedule: 5 s, up to a fifth more, and what a busy machine adds.
    expect(again!.at - first!.at).to.be.above(4900);
    expect(first!.text).to.equal(again!.text);
    expect(first!.body).to.deep.include({
      event: 'message_created',
      id: String(sent.body.id),
      content: 'What are your opening hours?',
      message_type: 'incoming',
      contact: { id: contactId, name: 'Demo Customer', email: 'customer@example.com' },
      account: { id: 1, name: 'Demo account' },
    });
    expect(first!.body.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(second!.body).to.deep.include({
      event: 'message_created',
      id: String(answers[1].id),
      message_type: 'outgoing',
    });
    expect(Number(second!.body.sequence)).to.be.greaterThan(Number(first!.body.sequence));
  });

  it('a snoozed conversation is open again when its time has come', async () => {
    receiver.received.length = 0;
    receiver.answerWith((_, response) => response.end());
    const until = Math.floor(Date.now() / 1000) + 2;
    const { status, body } = await app.post(`conversations/${conversationId}/toggle_status`, {
      status: 'snoozed',
      snoozed_until: until,
    });
    expect(status).to.equal(200);
    expect(body).to.include({ status: 'snoozed', snoozed_until: until });
    await app.eventually(async () => (await app.get(`conversations/${conversationId}`)).body.status === 'open');
    expect(Date.now()).to.be.at.least(until * 1000);
    expect(await app.eventNames()).to.deep.equal(['conversation_status_changed', 'conversation_status_changed']);
    await receiver.waitFor(2);
    expect(bodies(receiver).map((post) => [post.event, post.status, post.snoozed_until])).to.deep.equal([
      ['conversation_status_changed', 'snoozed', until],
      ['conversation_status_changed', 'open', null],
    ]);
    expect(bodies(receiver)[1]!.changed_attributes).to.deep.equal({
      status: { previous: 'snoozed', current: 'open' },
      snoozed_until: { previous: until, current: null },
    });
  });

  it('a deleted webhook hears nothing more', async () => {
    receiver.received.length = 0;
    const [webhook] = (await app.get('webhooks')).body.payload;
    expect(await app.delete(`webhooks/${webhook.id}`)).to.deep.include({ status: 200, body: {} });
    await app.post(`conversations/${conversationId}/messages`, { content: 'One more thing', message_type: 'incoming' });
    await app.eventually(async () => (await app.eventNames()).includes('message_created'));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(receiver.received).to.deep.equal([]);
  });
});
