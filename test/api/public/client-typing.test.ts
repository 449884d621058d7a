import { expect } from 'chai';
import { expectLedger } from '../../faults/ledger.ts';
import { TestApp } from '../../support/app.ts';
import { adminToken } from '../../support/app.ts';
import { EventSource } from '../../support/event-source.ts';
import { Receiver } from '../../support/receiver.ts';
import { Widget } from '../../support/widget.ts';

describe('a contact that is typing', function () {
  this.timeout(60_000);
  let app: TestApp;
  let receiver: Receiver;
  let inbox: Widget;

  before(async () => {
    app = await TestApp.start({ config: { widgetSessionsPerMinute: 0 } });
    receiver = await Receiver.start();
    inbox = await Widget.create(app, { channel_type: 'Channel::Api' });
    const subscriptions = ['conversation_typing_on', 'conversation_typing_off', 'message_created'];
    expect((await app.post('webhooks', { url: receiver.url, subscriptions })).status).to.equal(201);
  });

  after(async () => {
    await receiver.close();
    await app.stop();
  });

  async function enter() {
    const { body } = await inbox.call('POST', 'contacts', { name: 'Tina' });
    const path = `contacts/${body.source_id}/conversations`;
    const { id } = (await inbox.call('POST', path, {})).body;
    const type = (status: string) => inbox.call('POST', `${path}/${id}/toggle_typing`, { typing_status: status });
    const say = (content: string) => inbox.call('POST', `${path}/${id}/messages`, { content });
    return { contact: body.id as number, id: id as number, type, say };
  }

  it('is told to streams and webhooks, in order with its words, and gets no number among the events', async () => {
    const { contact, id, type, say } = await enter();
    const types = 'conversation_typing_on,conversation_typing_off,message_created';
    const url = `${app.url}/api/v1/accounts/1/events/stream?types=${types}`;
    const stream = await EventSource.open({ url, headers: { api_access_token: adminToken } });
    expect((await type('on')).body).to.deep.equal({});
    await say('Hello');
    await type('off');
    const posts = await receiver.waitFor(3);
    expect(posts.map(({ body }) => [body['event'], body['sequence']])).to.deep.equal([
      ['conversation_typing_on', undefined],
      ['message_created', 2],
      ['conversation_typing_off', undefined],
    ]);
    const { event: _, ...body } = posts[0]!.body;
    expect(body).to.deep.equal({
      conversation: { id, status: 'open', inbox_id: inbox.id },
      user: { id: contact, name: 'Tina', type: 'Contact' },
      is_private: false,
      account: { id: 1, name: 'Demo account' },
      actor: { type: 'contact', id: contact, name: 'Tina' },
      depth: 0,
    });
    await app.eventually(() => Promise.resolve(stream.events.length >= 3));
    expect(stream.events.map(({ name }) => name)).to.deep.equal([
      'conversation_typing_on',
      'message_created',
      'conversation_typing_off',
    ]);
    await stream.close();
    const { body: conversation } = await app.get(`conversations/${id}`);
    const [row] = await app.query<{ event_sequence: number }>(
      'SELECT event_sequence FROM conversations WHERE id = $1',
      [id],
    );
    expect([conversation.status, row!.event_sequence]).to.deep.equal(['open', 2]);
    expect((await type('perhaps')).status).to.equal(422);
  });

  it('is told once: what fails is not repeated, and holds back nothing', async () => {
    const { id, type, say } = await enter();
    const before = receiver.received.length;
    receiver.answerWith(({ body }, response) => {
      response.statusCode = String(body['event']).includes('typing') ? 500 : 200;
      response.end();
    });
    await type('on');
    await say('Hello');
    await receiver.waitFor(before + 2);
    const ended = await app.eventually(async () => {
      const rows = await app.query<{ name: string; state: string; attempt: number }>(
        `SELECT e.name, d.state, d.attempt FROM deliveries d JOIN events e ON e.id = d.event_id
         WHERE e.conversation_id = $1 ORDER BY e.id`,
        [id],
      );
      return rows.every(({ state }) => state !== 'pending') && rows;
    });
    expect(ended).to.deep.equal([
      { name: 'conversation_typing_on', state: 'exhausted', attempt: 1 },
      { name: 'message_created', state: 'delivered', attempt: 1 },
    ]);
    await expectLedger(app.databaseUrl);
  });
});
