import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { TestApp, type Answer } from '../support/app.ts';
import { addPerson, type Person } from '../support/people.ts';

const botUrl = 'https://127.0.0.1:9/bot';
const origin = 'https://www.example.com';

/** A public inbox, spoken to as a web page would: without an access token. */
class Widget {
  readonly id: number;
  readonly #app: TestApp;
  readonly #base: string;

  private constructor(app: TestApp, id: number, identifier: string) {
    this.id = id;
    this.#app = app;
    this.#base = `/public/api/v1/inboxes/${identifier}`;
  }

  static async create(app: TestApp, settings: object = {}, botId: number | null = null): Promise<Widget> {
    const { body } = await app.post('inboxes', { name: 'Shop', channel_type: 'Channel::WebWidget', ...settings });
    if (botId !== null) await app.post(`inboxes/${body.id}/set_agent_bot`, { agent_bot: botId });
    return new Widget(app, body.id, body.identifier);
  }

  call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#app.call(method, `${this.#base}/${path}`, body, { api_access_token: '', ...headers });
  }

  open(profile: object = {}, headers?: Record<string, string>): Promise<Answer> {
    return this.call('POST', 'sessions', profile, headers);
  }

  /** Opens a session of a new contact; answers its token's header and what the service answered. */
  async enter(profile: object = {}): Promise<{ headers: { 'x-contact-token': string }; contactId: number; body: any }> {
    const { status, body } = await this.open(profile);
    expect(status).to.equal(201);
    return { headers: { 'x-contact-token': body.contact_token }, contactId: body.contact.id, body };
  }

  say(content: string, headers: Record<string, string>): Promise<Answer> {
    return this.call('POST', 'messages', { content }, headers);
  }

  async messages(headers: Record<string, string>, query = ''): Promise<any[]> {
    const { status, body } = await this.call('GET', `messages${query}`, undefined, headers);
    expect(status).to.equal(200);
    return body.payload;
  }
}

describe('the widget', () => {
  let app: TestApp;
  let agent: Person;
  let botId: number;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { widgetSessionsPerMinute: 0 } });
    agent = await addPerson(app, { name: 'Ann' });
    const bot = await app.post('agent_bots', { name: 'Greeter', outgoing_url: botUrl });
    expect(bot.status).to.equal(201);
    ({ id: botId } = bot.body);
  });

  beforeEach(() => app.events());

  after(() => app.stop());

  describe('sessions', () => {
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
        identifier: 'vera-1',
      });
      expect(body.contact_token).to.match(/^swc_/);
      expect(body.conversation).to.equal(null);
      const { body: contact } = await app.get(`contacts/${body.contact.id}`);
      expect(contact).to.deep.include({
        blocked: false,
        custom_attributes: { plan: 'free' },
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
          custom_attributes: { plan: 'free' },
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
      const lanes = await app.query(
        'SELECT subject_kind, subject_id, endpoint_id FROM lanes WHERE endpoint_kind = $1',
        ['bot'],
      );
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
      const {
        headers,
        contactId,
        body: first,
      } = await widget.enter({ name: 'Vera', custom_attributes: { a: 1, b: 2 } });
      await app.events();
      const profile = { name: null, email: 'vera@example.com', custom_attributes: { a: null, c: 3 } };
      const { status, body } = await widget.open(profile, headers);
      expect(status).to.equal(201);
      expect(body).to.deep.equal({
        contact: { id: contactId, name: 'Vera', email: 'vera@example.com', phone_number: null, identifier: null },
        conversation: first.conversation,
      });
      expect((await app.get(`contacts/${contactId}`)).body.custom_attributes).to.deep.equal({ b: 2, c: 3 });
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

    it('refuse the identifier of another contact', async () => {
      await app.post('contacts', { name: 'Tom', identifier: 'tom-1' });
      const widget = await Widget.create(app);
      const { headers } = await widget.enter();
      await app.events();
      for (const answer of [
        await widget.open({ identifier: 'tom-1' }),
        await widget.open({ identifier: 'tom-1' }, headers),
      ]) {
        expect([answer.status, answer.body.details[0].path]).to.deep.equal([422, '/identifier']);
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });

  describe('messages', () => {
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

    it('of a blocked contact are kept and reopen nothing', async () => {
      const widget = await Widget.create(app, {}, botId);
      const quiet = await Widget.create(app);
      const { headers, contactId, body } = await widget.enter();
      const fresh = await quiet.enter();
      await app.post(`conversations/${body.conversation.id}/toggle_status`, { status: 'resolved' });
      await app.query('UPDATE contacts SET blocked = true WHERE id = ANY ($1)', [[contactId, fresh.contactId]]);
      await app.events();
      expect((await widget.open({}, headers)).body.conversation).to.equal(null);
      expect((await widget.say('Let me in', headers)).status).to.equal(201);
      expect((await app.get(`conversations/${body.conversation.id}`)).body.status).to.equal('resolved');
      expect((await quiet.say('Let me in', fresh.headers)).status).to.equal(201);
      expect((await quiet.call('GET', 'conversation', undefined, fresh.headers)).body.status).to.equal('resolved');
      expect(await app.eventNames()).to.deep.equal([
        'webwidget_triggered',
        'message_created',
        'conversation_created',
        'message_created',
      ]);
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

  describe('lets in', () => {
    it('nobody without a token, with one of another inbox, or with one that was never given', async () => {
      const widget = await Widget.create(app);
      const other = await Widget.create(app);
      const { headers } = await other.enter();
      await app.events();
      for (const bad of [
        {},
        headers,
        { 'x-contact-token': 'swc_forged' },
        { 'x-contact-token': agent.headers.api_access_token },
      ]) {
        for (const [method, path] of [
          ['GET', 'conversation'],
          ['GET', 'messages'],
          ['POST', 'messages'],
          ['POST', 'update_last_seen'],
        ] as const) {
          const { status } = await widget.call(method, path, method === 'POST' ? { content: 'Hello' } : undefined, bad);
          expect([method, path, status]).to.deep.equal([method, path, 401]);
        }
      }
      expect((await widget.open({}, headers)).status).to.equal(401);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('no contact that was deleted', async () => {
      const widget = await Widget.create(app);
      const { headers, contactId } = await widget.enter();
      await app.query('DELETE FROM contacts WHERE id = $1', [contactId]);
      expect((await widget.say('Hello', headers)).status).to.equal(401);
      expect((await widget.open({}, headers)).status).to.equal(401);
    });

    it('nobody to an inbox that is unknown or not public', async () => {
      const mail = await Widget.create(app, { channel_type: 'Channel::Email' });
      expect((await mail.open()).status).to.equal(404);
      for (const identifier of ['unknown', 'a%00b', '1']) {
        const { status } = await app.post(`/public/api/v1/inboxes/${identifier}/sessions`, {});
        expect([identifier, status]).to.deep.equal([identifier, identifier === 'a%00b' ? 400 : 404]);
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('no contact to the rest of the API', async () => {
      const widget = await Widget.create(app);
      const { headers } = await widget.enter();
      const asToken = { api_access_token: headers['x-contact-token'] };
      expect((await app.get('contacts', asToken)).status).to.equal(401);
      expect((await app.get('contacts', { api_access_token: '', ...headers })).status).to.equal(401);
    });
  });

  describe('answers web pages', () => {
    let widget: Widget;

    before(async () => {
      widget = await Widget.create(app, { allowed_origins: [origin] });
    });

    const preflight = (from: string, path = 'messages', to = widget) =>
      to.call('OPTIONS', path, undefined, {
        origin: from,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-contact-token',
      });

    it('of its origins', async () => {
      for (const path of ['sessions', 'messages', 'update_last_seen']) {
        const { status, headers } = await preflight(origin, path);
        expect(status).to.equal(204);
        expect(headers.get('access-control-allow-origin')).to.equal(origin);
        expect(headers.get('access-control-allow-headers')).to.contain('x-contact-token');
        expect(headers.get('access-control-allow-methods')).to.contain('POST');
        expect(headers.get('access-control-allow-credentials')).to.equal(null);
        expect(headers.get('vary')).to.match(/origin/i);
      }
      const { status, headers } = await widget.open({}, { origin });
      expect([status, headers.get('access-control-allow-origin')]).to.deep.equal([201, origin]);
      expect(headers.get('vary')).to.match(/origin/i);
      const refused = await widget.call('GET', 'messages', undefined, { origin });
      expect([refused.status, refused.headers.get('access-control-allow-origin')]).to.deep.equal([401, origin]);
    });

    it('of no other origins, and of none where none are named', async () => {
      const closed = await Widget.create(app);
      for (const [from, to] of [
        ['https://example.com', widget],
        ['http://www.example.com', widget],
        [`${origin}:8443`, widget],
        [`${origin}.evil.example`, widget],
        ['null', widget],
        [origin, closed],
      ] as const) {
        for (const { headers } of [await preflight(from, 'messages', to), await to.open({}, { origin: from })]) {
          expect([from, headers.get('access-control-allow-origin')]).to.deep.equal([from, null]);
          expect(headers.get('vary')).to.match(/origin/i);
        }
      }
    });
  });
});

describe('the widget, hurried', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { widgetSessionsPerMinute: 2, rateLimitPerMinute: 3000 } });
  });

  after(() => app.stop());

  it('opens only so many sessions a minute for one address, and takes only so many messages of one contact', async () => {
    const widget = await Widget.create(app);
    const { headers } = await widget.enter();
    const other = await widget.enter();
    const refused = await widget.open();
    expect([refused.status, refused.body.code]).to.deep.equal([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    await app.events();
    const statuses: number[] = [];
    for (let index = 0; index < 61; index += 1) statuses.push((await widget.say(`${index}`, headers)).status);
    expect(statuses).to.deep.equal([...Array.from({ length: 60 }, () => 201), 429]);
    expect((await widget.say('Hello', other.headers)).status).to.equal(201);
    expect(await widget.messages(headers)).to.have.lengthOf(20);
    expect((await app.eventNames()).filter((name) => name === 'message_created')).to.have.lengthOf(61);
  });
});

const manifest = {
  id: 'greeter',
  name: 'Greeter',
  version: '1.0.0',
  apiVersion: '1',
  main: 'bot.ts',
  events: ['webwidget_triggered'],
  permissions: { conversation: ['reply'], contact: ['name'] },
};
const code = `import { defineBot } from 'switchboard/bot';
export default defineBot({
  on: {
    webwidget_triggered(ctx) {
      if (ctx.event.conversation_begun) ctx.reply('Welcome, ' + ctx.contact.name + ', to ' + ctx.conversation.id);
    },
  },
});`;

describe('a bot that speaks first', () => {
  let app: TestApp;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-widget-'));
    const bot = join(folder, 'bots', 'greeter');
    mkdirSync(bot, { recursive: true });
    mkdirSync(join(folder, 'plugins'));
    writeFileSync(join(bot, 'plugin.json'), JSON.stringify(manifest));
    writeFileSync(join(bot, 'bot.ts'), code);
    app = await TestApp.start({ pluginRoot: folder });
  });

  after(async () => {
    await app.stop();
    rmSync(folder, { recursive: true });
  });

  it('greets a visitor before the first word', async () => {
    const bot = await app.post('agent_bots', { name: 'Greeter', kind: 'plugin', plugin_id: 'greeter' });
    expect(bot.status).to.equal(201);
    const widget = await Widget.create(app, {}, bot.body.id);
    const { headers, body } = await widget.enter({ name: 'Vera' });
    const [greeting] = await app.eventually(async () => {
      const messages = await widget.messages(headers);
      return messages.length > 0 && messages;
    });
    expect(greeting).to.deep.include({
      content: `Welcome, Vera, to ${body.conversation.id}`,
      message_type: 'outgoing',
      sender: { name: 'Greeter', type: 'AgentBot', avatar_url: null },
    });
    await widget.open({}, headers);
    await app.eventually(async () => {
      const runs = await app.query('SELECT FROM bot_runs WHERE outcome = $1', ['ok']);
      return runs.length === 2;
    });
    expect(await widget.messages(headers)).to.have.lengthOf(1);
    expect(await app.eventNames()).to.deep.equal([
      'contact_created',
      'conversation_created',
      'webwidget_triggered',
      'message_created',
      'webwidget_triggered',
    ]);
  });
});
