import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { Widget } from '../../support/widget.ts';

const items = [
  { title: 'Basic', value: 'basic' },
  { title: 'Pro', value: 'pro' },
  { title: 'Seven', value: 7 },
];

describe('answers to choices and questions for an e-mail address', () => {
  let app: TestApp;
  let widget: Widget;
  let headers: Record<string, string>;
  let conversation: number;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { widgetSessionsPerMinute: 0 } });
  });

  after(() => app.stop());

  beforeEach(async () => {
    widget = await Widget.create(app);
    ({ headers } = await widget.enter({ name: 'Vera' }));
    conversation = (await widget.say('Hello', headers)).body.conversation_id;
  });

  const ask = async (fields: object): Promise<number> => {
    const body = { content: 'Which?', message_type: 'outgoing', ...fields };
    return (await app.post(`conversations/${conversation}/messages`, body)).body.id;
  };
  const choice = (fields: object = {}) =>
    ask({ content_type: 'input_select', content_attributes: { items }, ...fields });
  const answer = (content: string, given: object) =>
    widget.call('POST', 'messages', { content, content_attributes: given }, headers);

  it('a choice is a message with its title, and with the value that was chosen', async () => {
    const question = await choice();
    const { status, body } = await answer('pro', { in_reply_to: question });
    expect(status).to.equal(201);
    const chosen = { in_reply_to: question, submitted_values: [{ title: 'Pro', value: 'pro' }] };
    expect(body).to.deep.include({ content: 'Pro', message_type: 'incoming', content_attributes: chosen });
    const { payload } = (await app.get(`conversations/${conversation}/messages`)).body;
    expect(payload.at(-1)).to.deep.include({ content: 'Pro', content_attributes: chosen });
    const told = (await app.events()).findLast(({ name }) => name === 'message_created');
    expect(told?.account_payload).to.deep.include({ content: 'Pro', content_attributes: chosen });
    expect(told?.account_payload?.['content_type']).to.equal('text');
    const number = await answer('Whatever', { submitted_values: [{ title: 'Whatever', value: '7' }] });
    expect(number.body.content).to.equal('Seven');
    expect(number.body.content_attributes.submitted_values).to.deep.equal([{ title: 'Seven', value: '7' }]);
  });

  it('a postback of a card is one, too, and cards with links alone ask for nothing', async () => {
    const order = (payload: string) => ({ type: 'postback', text: 'Order', payload });
    const link = { type: 'link', text: 'See', uri: 'https://shop.example/lamp' };
    const cards = [
      { title: 'Lamp', actions: [link, order('lamp')] },
      { title: 'Chair', actions: [order('chair')] },
    ];
    const question = await ask({ content_type: 'cards', content_attributes: { items: cards } });
    await ask({ content_type: 'cards', content_attributes: { items: [{ title: 'Read on', actions: [link] }] } });
    const { status, body } = await answer('Order', { submitted_values: [{ title: 'Order', value: 'chair' }] });
    const chosen = { in_reply_to: question, submitted_values: [{ title: 'Order', value: 'chair' }] };
    expect([status, body.content, body.content_attributes]).to.deep.equal([201, 'Order', chosen]);
    for (const value of ['See', 'https://shop.example/lamp', 'Order'])
      expect((await answer(value, { in_reply_to: question })).status, value).to.equal(422);
  });

  it("an e-mail address becomes the contact's", async () => {
    const question = await ask({ content_type: 'input_email' });
    await app.events();
    const { status, body } = await answer(' vera@example.com ', { in_reply_to: question });
    expect([status, body.content]).to.deep.equal([201, 'vera@example.com']);
    expect(body.content_attributes).to.deep.equal({ in_reply_to: question, submitted_email: 'vera@example.com' });
    const events = await app.events();
    expect(events.map(({ name }) => name)).to.deep.equal(['contact_updated', 'message_created']);
    expect(events[1]?.account_payload?.['contact']).to.include({ email: 'vera@example.com' });
    expect((await app.get(`conversations/${conversation}`)).body.contact.email).to.equal('vera@example.com');
    expect((await answer('vera@example.com', { in_reply_to: question })).status).to.equal(201);
    expect(await app.eventNames()).to.deep.equal(['message_created']);
  });

  it('what fits no question is refused, and nothing happens', async () => {
    const question = await choice();
    const email = await ask({ content_type: 'input_email' });
    const text = await ask({});
    const note = await choice({ private: true });
    const odd = await choice();
    const wild = { items: [null, 'x', { value: {} }] };
    await app.query('UPDATE messages SET content_attributes = $2 WHERE id = $1', [odd, wild]);
    const elsewhere = await Widget.create(app);
    const stranger = await elsewhere.enter();
    await app.events();
    const refusals: [string, object][] = [
      ['gold', { in_reply_to: question }],
      ['Pro', { in_reply_to: question }],
      ['not an address', { in_reply_to: email }],
      ['x', { in_reply_to: text }],
      ['pro', { in_reply_to: note }],
      ['x', { in_reply_to: odd }],
      ['pro', { in_reply_to: 999_999 }],
      ['pro', { in_reply_to: 'first' }],
      ['pro', { submitted_values: 'pro' }],
      ['pro', { submitted_values: [{ title: 'Pro' }] }],
    ];
    for (const [content, given] of refusals) {
      const { status, body } = await answer(content, given);
      expect([content, status, body.code]).to.deep.equal([content, 422, 'validation_failed']);
    }
    const theirs = { content: 'pro', content_attributes: { in_reply_to: question } };
    expect((await elsewhere.call('POST', 'messages', theirs, stranger.headers)).status).to.equal(422);
    expect(await app.eventNames()).to.deep.equal([]);
    // The newest that asks, when no message is named.
    expect((await answer('pro', { submitted_values: [{ value: 'pro' }] })).status).to.equal(422);
    expect((await answer('pro', { in_reply_to: question })).status).to.equal(201);
  });

  it('sent once more with its key, it is the same message', async () => {
    const question = await choice();
    const body = { content: 'basic', content_attributes: { in_reply_to: question } };
    const keyed = { ...headers, 'idempotency-key': 'the choice' };
    const [first, second] = [
      await widget.call('POST', 'messages', body, keyed),
      await widget.call('POST', 'messages', body, keyed),
    ];
    expect([second.body, second.headers.get('idempotency-replayed')]).to.deep.equal([first.body, 'true']);
    expect((await widget.messages(headers)).filter(({ content }) => content === 'Basic')).to.have.lengthOf(1);
  });
});
