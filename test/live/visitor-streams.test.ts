import { expect } from 'chai';
import { assertShape } from '../../src/schemas.ts';
import { TestApp } from '../support/app.ts';
import { EventSource } from '../support/event-source.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';
import { Widget } from '../support/widget.ts';

describe('streams of visitors', function () {
  this.timeout(60_000);
  let app: TestApp;
  let https: HttpsReceiver;
  let open: EventSource[] = [];

  before(async () => {
    https = await startHttpsReceiver();
    app = await TestApp.start({
      config: {
        widgetSessionsPerMinute: 0,
        eventStreamsPerAccount: 8,
        widgetStreamsPerInbox: 3,
        widgetStreamsPerAddress: 7,
      },
    });
  });

  after(async () => {
    await app.stop();
    await https.close();
  });

  afterEach(async () => {
    await Promise.all(open.map((source) => source.close()));
    open = [];
    await until(async () => (await app.query('SELECT FROM unplaced_events LIMIT 1')).length === 0);
  });

  const until = (probe: () => boolean | Promise<boolean>) => app.eventually(async () => await probe());
  const follow = async (widget: Widget, headers: Record<string, string>): Promise<EventSource> => {
    const url = `${app.url}/public/api/v1/inboxes/${widget.identifier}/events`;
    const source = await EventSource.open({ url, headers });
    open.push(source);
    return source;
  };
  const told = (source: EventSource) =>
    source.events.map(({ name, data }) => [name, data.message?.content ?? data.conversation?.status ?? data.typing]);

  async function enter(widget: Widget) {
    const { headers, contactId } = await widget.enter({ name: 'Vera' });
    const { conversation_id: conversation } = (await widget.say('Hello', headers)).body;
    await until(async () => (await app.query('SELECT FROM unplaced_events LIMIT 1')).length === 0);
    return { headers, contactId, conversation };
  }

  it('tell all devices of a contact what is public in its conversation, and nobody else', async () => {
    const widget = await Widget.create(app);
    const { headers, conversation } = await enter(widget);
    const other = await enter(widget);
    const [phone, laptop, stranger] = await Promise.all([
      follow(widget, headers),
      follow(widget, headers),
      follow(widget, other.headers),
    ]);
    expect(phone.response?.headers.get('content-type')).to.match(/^text\/event-stream/);
    const path = `conversations/${conversation}`;
    await app.post(`${path}/messages`, { content: 'A secret', message_type: 'outgoing', private: true });
    const { body: written } = await app.post(`${path}/messages`, { content: 'Good day', message_type: 'outgoing' });
    await app.patch(`${path}/messages/${written.id}`, { content: 'Good evening' });
    await app.post(`${path}/labels`, { labels: [] });
    await widget.say('Bye', headers);
    await app.post(`${path}/toggle_status`, { status: 'resolved' });
    await until(() => [phone, laptop].every(({ events }) => events.length === 4));
    // As it is now: what was changed meanwhile is not told in its old words.
    expect(told(phone).map(([name]) => name)).to.deep.equal([
      'message_created',
      'message_updated',
      'message_created',
      'conversation_changed',
    ]);
    expect(told(phone).slice(1)).to.deep.equal([
      ['message_updated', 'Good evening'],
      ['message_created', 'Bye'],
      ['conversation_changed', 'resolved'],
    ]);
    expect(told(laptop).length).to.equal(4);
    for (const { data, id } of phone.events) {
      assertShape('resources/widget-event', data);
      expect(id).to.equal('');
    }
    const [listed] = (await widget.messages(headers)).filter(({ id }) => id === written.id);
    expect(phone.events[1]?.data.message).to.deep.equal(listed);
    expect(JSON.stringify([phone.events, stranger.events])).not.to.contain('secret');
    expect(stranger.events).to.deep.equal([]);
  });

  it('end with the token and with the contact, and tell nothing from then on', async () => {
    const widget = await Widget.create(app);
    const [revoked, deleted] = [await enter(widget), await enter(widget)];
    const [one, two] = await Promise.all([follow(widget, revoked.headers), follow(widget, deleted.headers)]);
    await app.query('DELETE FROM contact_tokens WHERE contact_id = $1', [revoked.contactId]);
    await app.post(`conversations/${revoked.conversation}/messages`, { content: 'Hm', message_type: 'outgoing' });
    await one.ended;
    expect(told(one)).to.deep.equal([]);
    await app.delete(`contacts/${deleted.contactId}`);
    await two.ended;
    expect(told(two)).to.deep.equal([]);
    const { status } = await widget.call('GET', 'events', undefined, deleted.headers);
    expect(status).to.equal(401);
  });

  it('end when the contact is merged, and the next one tells of its conversation', async () => {
    const widget = await Widget.create(app);
    const { headers, contactId, conversation } = await enter(widget);
    const source = await follow(widget, headers);
    const base = (await app.post('contacts', { name: 'Base' })).body.id;
    const body = { base_contact_id: base, mergee_contact_id: contactId };
    expect((await app.post('actions/contact_merge', body)).status).to.equal(200);
    await source.ended;
    const next = await follow(widget, headers);
    await app.post(`conversations/${conversation}/messages`, { content: 'Good day', message_type: 'outgoing' });
    await until(() => told(next).some(([name, content]) => name === 'message_created' && content === 'Good day'));
  });

  it('are bounded for an inbox, an address and an account, where agents always get in', async () => {
    const [first, second, third] = [await Widget.create(app), await Widget.create(app), await Widget.create(app)];
    const refusal = async (widget: Widget, headers: Record<string, string>) => {
      const { status, body, headers: answered } = await widget.call('GET', 'events', undefined, headers);
      return [status, body?.code, body?.error.split(' has')[0].split(' have')[0], answered.get('retry-after')];
    };
    for (const widget of [first, second]) {
      const { headers } = await enter(widget);
      await Promise.all([follow(widget, headers), follow(widget, headers), follow(widget, headers)]);
      expect(await refusal(widget, headers)).to.deep.equal([429, 'too_many_streams', 'The inbox', '15']);
    }
    const { headers } = await enter(third);
    expect(await refusal(third, headers)).to.deep.equal([429, 'too_many_streams', 'The contacts of the account', '15']);
    const agent = await EventSource.open({
      url: `${app.url}/api/v1/accounts/1/events/stream`,
      headers: { api_access_token: 'administrator-of-the-tests' },
    });
    open.push(agent);
    expect(agent.response?.status).to.equal(200);
    await open.shift()?.close();
    await until(async () => (await third.call('GET', 'events', undefined, headers)).status === 200);
  });

  it('tell that a bot is at work for the last message, to whoever comes meanwhile too, and when that ends', async () => {
    const bot = (await app.post('agent_bots', { name: 'Thinker', outgoing_url: https.receiver.url })).body;
    const widget = await Widget.create(app, {}, bot.id);
    const { headers } = await widget.enter();
    const calls: (() => void)[] = [];
    https.receiver.answerWith((request, response) => {
      const { event, content } = request.body as { event: string; content: string };
      if (event === 'message_created' && content === 'Think') calls.push(() => response.end());
      else response.end();
    });
    const early = await follow(widget, headers);
    await widget.say('Think', headers);
    await until(() => told(early).some(([name, value]) => name === 'typing' && value === true));
    const late = await follow(widget, headers);
    await until(() => told(late).length > 0);
    expect(told(late)).to.deep.equal([['typing', true]]);
    expect(calls).to.have.lengthOf(1);
    calls[0]?.();
    const last = (source: EventSource) => told(source).at(-1);
    await until(() => [early, late].every((source) => String(last(source)) === 'typing,false'));
    for (const { data } of [...early.events, ...late.events]) assertShape('resources/widget-event', data);
    const typing = told(early).filter(([name]) => name === 'typing');
    expect(typing).to.deep.equal([
      ['typing', true],
      ['typing', false],
    ]);
  });
});
