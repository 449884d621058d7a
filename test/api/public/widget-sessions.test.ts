import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { Widget } from '../../support/widget.ts';

describe('sessions of the widget', () => {
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

  it('of a new visitor make a contact and show its token once', async () => {
    const widget = await Widget.create(app);
    const { status, body } = await widget.open({
      name: 'Vera',
      email: 'vera@example.com',
      phone_number: '+14155552671',
      identifier: 'vera-1',
      custom_attributes: { plan: 'free' },
      blocked: true,
      additional_attributes: { admin: true },
    });
    expect(status).to.equal(201);
    expect(body.contact).to.deep.include({
      name: 'Vera',
      email: 'vera@example.com',
      phone_number: '+14155552671',
      identifier: null,
    });
    expect(body.contact_token).to.match(/^swc_/);
    expect(body.conversation).to.equal(null);
    const { payload: contact } = (await app.get(`contacts/${body.contact.id}`)).body;
    expect(contact).to.deep.include({
      blocked: false,
      custom_attributes: {},
      visitor_attributes: { plan: 'free' },
      additional_attributes: {},
    });
    const [kept] = await app.query<{ token_hash: Buffer }>('SELECT * FROM contact_tokens WHERE contact_id = $1', [
      contact.id,
    ]);
    expect(kept!.token_hash).to.deep.equal(createHash('sha256').update(body.contact_token).digest());

    const events = await app.events();
    expect(events.map(({ name }) => name)).to.deep.equal(['contact_created', 'webwidget_triggered']);
    expect(events[1]).to.deep.include({
      contact_id: contact.id,
      conversation_id: null,
      sequence: null,
      bot_id: null,
    });
    expect(events[1]!.account_payload).to.deep.include({
      event: 'webwidget_triggered',
      inbox: { id: widget.id, name: 'Shop', channel: 'Channel::WebWidget' },
      account: { id: 1, name: 'Demo account' },
      current_conversation: null,
      conversation_begun: false,
      source_id: null,
    });
    expect(events[1]!.account_payload!['contact']).to.deep.equal(contact);
  });

  it('of somebody who tells nothing make a contact too', async () => {
    const widget = await Widget.create(app, { channel_type: 'Channel::Api' });
    const { body } = await widget.enter({ name: null });
    expect(body.contact).to.deep.include({ name: 'Visitor', email: null, phone_number: null, identifier: null });
    expect(await app.eventNames()).to.deep.equal(['contact_created', 'webwidget_triggered']);
  });

  it('reach the webhooks that subscribe to them, of the inbox alone if they are for one', async () => {
    const widget = await Widget.create(app);
    const other = await Widget.create(app);
    const subscriptions = ['webwidget_triggered'];
    const url = 'http://127.0.0.1:9/';
    for (const extra of [{}, { inbox_id: widget.id }, { inbox_id: other.id }]) {
      expect((await app.post('webhooks', { url, subscriptions, ...extra })).status).to.equal(201);
    }
    await widget.enter();
    const [event] = (await app.events()).slice(-1);
    const told = await app.query<{ inbox_id: number | null }>(
      'SELECT w.inbox_id FROM deliveries d JOIN webhooks w ON w.id = d.endpoint_id WHERE d.event_id = $1 ORDER BY w.id',
      [event!.id],
    );
    expect(told).to.deep.equal([{ inbox_id: null }, { inbox_id: widget.id }]);
    await app.query('DELETE FROM webhooks');
  });

  it('begin a conversation where a bot hears of them, and tell the bot there', async () => {
    const widget = await Widget.create(app, {}, botId);
    const { body, contactId } = await widget.enter({ name: 'Vera', custom_attributes: { plan: 'free' } });
    expect(body.conversation).to.include({ status: 'pending', assignee: null });
    const events = await app.events();
    expect(events.map(({ name }) => name)).to.deep.equal([
      'contact_created',
      'conversation_created',
      'webwidget_triggered',
    ]);
    const { id } = body.conversation;
    expect(events[2]).to.include({ conversation_id: id, sequence: 2, bot_id: botId, bot_silence: null });
    expect(events[2]!.bot_payload).to.deep.include({
      event: 'webwidget_triggered',
      sequence: 2,
      source_id: null,
      conversation_begun: true,
      contact: {
        id: contactId,
        name: 'Vera',
        email: null,
        phone_number: null,
        avatar: null,
        identifier: null,
        custom_attributes: {},
        visitor_attributes: { plan: 'free' },
        type: 'contact',
      },
      current_conversation: {
        id,
        account_id: 1,
        status: 'pending',
        assignee: null,
        meta: { sender: { id: contactId, name: 'Vera', type: 'contact' }, channel: 'Channel::WebWidget' },
      },
    });
    const lanes = await app.query('SELECT subject_kind, subject_id, endpoint_id FROM lanes WHERE endpoint_kind = $1', [
      'bot',
    ]);
    expect(lanes).to.deep.include({ subject_kind: 'conversation', subject_id: id, endpoint_id: botId });
  });

  it('begin none for a bot that does not hear of them', async () => {
    const faq = await app.post('agent_bots', { name: 'FAQ', kind: 'plugin', plugin_id: 'faq' });
    expect(faq.status).to.equal(201);
    const widget = await Widget.create(app, {}, faq.body.id);
    const { body, headers } = await widget.enter();
    expect(body.conversation).to.equal(null);
    await widget.say('Hello', headers);
    expect(await app.eventNames()).to.deep.equal([
      'contact_created',
      'webwidget_triggered',
      'conversation_created',
      'message_created',
    ]);
  });

  it('go on with the contact of the token and its conversation', async () => {
    const widget = await Widget.create(app, {}, botId);
    const { headers, contactId, body: first } = await widget.enter({ name: 'Vera', custom_attributes: { a: 1, b: 2 } });
    await app.events();
    const profile = { name: null, email: 'vera@example.com', custom_attributes: { a: null, c: 3 } };
    const { status, body } = await widget.open(profile, headers);
    expect(status).to.equal(201);
    expect(body).to.deep.equal({
      contact: { id: contactId, name: 'Vera', email: 'vera@example.com', phone_number: null, identifier: null },
      conversation: first.conversation,
    });
    expect((await app.get(`contacts/${contactId}`)).body.visitor_attributes).to.deep.equal({ b: 2, c: 3 });
    const [updated, triggered] = await app.events();
    expect(updated!.name).to.equal('contact_updated');
    expect(triggered).to.include({ name: 'webwidget_triggered', conversation_id: body.conversation.id, sequence: 3 });
    expect(triggered!.bot_payload).to.deep.include({ conversation_begun: false });
    expect(triggered!.account_payload!['current_conversation']).to.deep.include({
      contact: { id: contactId, name: 'Vera', email: 'vera@example.com' },
    });

    expect((await widget.open({}, headers)).status).to.equal(201);
    expect(await app.eventNames()).to.deep.equal(['webwidget_triggered']);
  });

  it('opened at once by one contact share one conversation', async () => {
    const quiet = await Widget.create(app);
    const { headers } = await quiet.enter();
    await app.post(`inboxes/${quiet.id}/set_agent_bot`, { agent_bot: botId });
    await app.events();
    const answers = await Promise.all([1, 2, 3, 4].map(() => quiet.open({}, headers)));
    expect(new Set(answers.map(({ body }) => body.conversation.id)).size).to.equal(1);
    const names = await app.eventNames();
    expect(names.filter((name) => name === 'conversation_created')).to.have.lengthOf(1);
    expect(names.filter((name) => name === 'webwidget_triggered')).to.have.lengthOf(4);
  });

  it('are not told to a bot that a person has taken over from', async () => {
    const widget = await Widget.create(app, {}, botId);
    const { headers, body } = await widget.enter();
    await app.post(`conversations/${body.conversation.id}/messages`, { content: 'Me!', message_type: 'outgoing' });
    await app.events();
    await widget.open({}, headers);
    const [event] = await app.events();
    expect(event).to.include({ name: 'webwidget_triggered', bot_id: botId, bot_silence: 'human_replied' });
  });

  it('begin another conversation when the last is resolved', async () => {
    const widget = await Widget.create(app, {}, botId);
    const { headers, body: first } = await widget.enter();
    await app.post(`conversations/${first.conversation.id}/toggle_status`, { status: 'resolved' });
    await app.events();
    const { body } = await widget.open({}, headers);
    expect(body.conversation.id).not.to.equal(first.conversation.id);
    expect((await widget.call('GET', 'conversation', undefined, headers)).body).to.deep.equal(body.conversation);
    expect(await app.eventNames()).to.deep.equal(['conversation_created', 'webwidget_triggered']);
  });

  for (const [title, profile, path] of [
    ['an e-mail address that is none', { email: 'vera' }, '/email'],
    ['a phone number that is none', { phone_number: '123' }, '/phone_number'],
    ['a name of blanks', { name: '  ' }, '/name'],
    ['attributes that are no object', { custom_attributes: [] }, '/custom_attributes'],
  ] as const) {
    it(`refuse ${title}`, async () => {
      const { status, body } = await (await Widget.create(app)).open(profile);
      expect([status, body.details[0].path]).to.deep.equal([422, path]);
      expect(await app.eventNames()).to.deep.equal([]);
    });
  }
});
