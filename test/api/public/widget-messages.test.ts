import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { Widget } from '../../support/widget.ts';

describe('messages of the widget', () => {
  let app: TestApp;
  let botId: number;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { widgetSessionsPerMinute: 0 } });
    const bot = await app.post('agent_bots', { name: 'Greeter', outgoing_url: 'https://127.0.0.1:9/bot' });
    expect(bot.status).to.equal(201);
    ({ id: botId } = bot.body);
  });

  beforeEach(() => app.events());

  after(() => app.stop());

  it('begin a conversation, are read back, and go on in it', async () => {
    const widget = await Widget.create(app);
    const { headers, contactId } = await widget.enter({ name: 'Vera' });
    await app.events();
    expect(await widget.messages(headers)).to.deep.equal([]);
    expect((await widget.call('GET', 'conversation', undefined, headers)).status).to.equal(404);
    const { status, body } = await widget.say('Hello', headers);
    expect(status).to.equal(201);
    expect(body).to.deep.include({
      content: 'Hello',
      message_type: 'incoming',
      status: 'sent',
      content_type: 'text',
      content_attributes: {},
      sender: { name: 'Vera', type: 'Contact', avatar_url: null },
      attachments: [],
    });
    expect((await widget.say('Anybody?', headers)).body.conversation_id).to.equal(body.conversation_id);
    expect((await widget.messages(headers)).map(({ content }) => content)).to.deep.equal(['Hello', 'Anybody?']);
    expect((await widget.call('GET', 'conversation', undefined, headers)).body).to.include({
      id: body.conversation_id,
      status: 'open',
    });
    const { body: conversation } = await app.get(`conversations/${body.conversation_id}`);
    expect(conversation).to.deep.include({ unread_count: 2, inbox_id: widget.id });
    expect(conversation.contact.id).to.equal(contactId);
    expect(await app.eventNames()).to.deep.equal(['conversation_created', 'message_created', 'message_created']);
  });

  it('sent at once by a new contact share one conversation', async () => {
    const widget = await Widget.create(app);
    const { headers } = await widget.enter();
    await app.events();
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((content) => widget.say(content, headers)));
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.conversation_id)).size).to.equal(1);
    expect((await app.eventNames()).toSorted()).to.deep.equal([
      'conversation_created',
      ...Array.from({ length: 4 }, () => 'message_created'),
    ]);
  });

  it('reopen a resolved conversation', async () => {
    const widget = await Widget.create(app, {}, botId);
    const { headers, body } = await widget.enter();
    await app.post(`conversations/${body.conversation.id}/toggle_status`, { status: 'resolved' });
    await app.events();
    expect((await widget.say('Once more', headers)).body.conversation_id).to.equal(body.conversation.id);
    expect(await app.eventNames()).to.deep.equal([
      'conversation_status_changed',
      'conversation_opened',
      'message_created',
    ]);
    expect((await widget.call('GET', 'conversation', undefined, headers)).body.status).to.equal('pending');
  });

  it('of a blocked contact are refused, kept nowhere, and reopen nothing', async () => {
    const widget = await Widget.create(app, {}, botId);
    const quiet = await Widget.create(app);
    const { headers, contactId, body } = await widget.enter();
    const fresh = await quiet.enter();
    await app.post(`conversations/${body.conversation.id}/toggle_status`, { status: 'resolved' });
    await app.query('UPDATE contacts SET blocked = true WHERE id = ANY ($1)', [[contactId, fresh.contactId]]);
    await app.events();
    expect((await widget.open({}, headers)).body.conversation).to.equal(null);
    for (const [inbox, its] of [
      [widget, headers],
      [quiet, fresh.headers],
    ] as const) {
      const { status, body: refusal } = await inbox.say('Let me in', its);
      expect([status, refusal.code]).to.deep.equal([403, 'contact_blocked']);
      expect(refusal.error).to.match(/^You cannot send messages here/);
    }
    expect((await app.get(`conversations/${body.conversation.id}`)).body.status).to.equal('resolved');
    expect((await quiet.call('GET', 'conversation', undefined, fresh.headers)).status).to.equal(404);
    expect(await widget.messages(headers)).to.deep.equal([]);
    expect(await app.eventNames()).to.deep.equal(['webwidget_triggered']);
    await app.query('UPDATE contacts SET blocked = false WHERE id = $1', [contactId]);
    expect((await widget.say('Let me in', headers)).status).to.equal(201);
  });

  it('show the contact what is public, and nothing private', async () => {
    const widget = await Widget.create(app);
    const { headers } = await widget.enter();
    const { body: first } = await widget.say('Hello', headers);
    const path = `conversations/${first.conversation_id}/messages`;
    await app.post(path, { content: 'A difficult one', message_type: 'outgoing', private: true });
    await app.post(path, { content: 'Hello Vera', message_type: 'outgoing' });
    const messages = await widget.messages(headers);
    expect(messages.map(({ content, sender }) => [content, sender.type])).to.deep.equal([
      ['Hello', 'Contact'],
      ['Hello Vera', 'User'],
    ]);
    expect(JSON.stringify(messages)).not.to.contain('difficult');
    expect(messages[0]).not.to.have.any.keys('private', 'account_id', 'inbox_id', 'source_id');
    const beyond = Math.floor(Date.now() / 1000) + 60;
    expect(await widget.messages(headers, `?after=${beyond}`)).to.deep.equal([]);
    expect(await widget.messages(headers, `?before=${beyond}`)).to.have.lengthOf(2);
    expect(await widget.messages(headers, `?before=1`)).to.deep.equal([]);
    expect((await widget.call('GET', 'messages?before=soon', undefined, headers)).status).to.equal(400);
    expect(await app.eventNames()).to.include('message_created');
  });

  it('of the team are read when the contact says so', async () => {
    const widget = await Widget.create(app, {}, botId);
    const { headers, body } = await widget.enter();
    const path = `conversations/${body.conversation.id}/messages`;
    await app.post(path, { content: 'One', message_type: 'outgoing' });
    await app.post(path, { content: 'Note', message_type: 'outgoing', private: true });
    await app.post(path, { content: 'Two', message_type: 'outgoing' });
    await widget.say('Three', headers);
    await app.events();
    const seen = await widget.call('POST', 'update_last_seen', undefined, headers);
    expect(seen.status).to.equal(200);
    expect(seen.body.id).to.equal(body.conversation.id);
    const events = await app.events();
    expect(events.map(({ name }) => name)).to.deep.equal(['message_updated', 'message_updated']);
    expect(events.map(({ account_payload: payload }) => payload!['content'])).to.deep.equal(['One', 'Two']);
    expect(events[0]!.account_payload).to.deep.include({
      status: 'read',
      changed_attributes: { status: { previous: 'sent', current: 'read' } },
    });
    expect(events.map(({ bot_id: bot }) => bot)).to.deep.equal([null, null]);
    expect(events[1]!.sequence).to.equal(events[0]!.sequence! + 1);
    expect((await widget.messages(headers)).map(({ status }) => status)).to.deep.equal(['read', 'read', 'sent']);
    expect((await app.get(path)).body.payload[1]).to.include({ content: 'Note', status: 'sent' });
    await widget.call('POST', 'update_last_seen', undefined, headers);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  for (const [title, body] of [
    ['nothing', {}],
    ['blanks', { content: ' \n' }],
    ['a number', { content: 5 }],
  ] as const) {
    it(`refuse ${title}`, async () => {
      const widget = await Widget.create(app);
      const { headers } = await widget.enter();
      await app.events();
      expect((await widget.call('POST', 'messages', body, headers)).status).to.equal(422);
      expect(await app.eventNames()).to.deep.equal([]);
    });
  }
});
