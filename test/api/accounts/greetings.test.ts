import { expect } from 'chai';
import { isOpen, weekOf } from '../../../src/domain/conversations/deadlines/working-hours.ts';
import { TestApp } from '../../support/app.ts';
import { addContact, addWebhookBot } from '../../support/records.ts';

// A Friday: 13:00 in Berlin.
const noon = Date.parse('2026-11-20T12:00:00Z');
const night = Date.parse('2026-11-20T22:00:00Z');

describe('greetings and working hours', () => {
  let app: TestApp;
  let now = noon;

  before(async () => {
    app = await TestApp.start({ engine: false, clock: { now: () => new Date(now) } });
  });

  after(() => app.stop());

  beforeEach(async () => {
    now += 60_000;
    await app.events();
  });

  async function converse(settings: object, fields: object = {}) {
    const { body: inbox } = await app.post('inboxes', { name: 'Support', ...settings });
    const contactId = await addContact(app);
    const { body } = await app.post('conversations', { inbox_id: inbox.id, contact_id: contactId, ...fields });
    await app.events();
    const path = `conversations/${body.id}`;
    const say = (content: string, rest: object = {}) =>
      app.post(`${path}/messages`, { content, message_type: 'outgoing', ...rest });
    return {
      path,
      inboxId: inbox.id as number,
      contactId,
      say,
      hear: (content: string) => say(content, { message_type: 'incoming' }),
      to: (status: string) => app.post(`${path}/toggle_status`, { status }),
      contents: async () =>
        (await app.get(`${path}/messages`)).body.payload.map((message: { content: string }) => message.content),
    };
  }

  const greeting = { greeting_enabled: true, greeting_message: 'Hello! We will be with you.' };
  const office = { working_hours_enabled: true, timezone: 'Europe/Berlin', out_of_office_message: 'We are asleep.' };

  it('the first word of the customer is answered with the greeting, and no other', async () => {
    const { path, hear, contents, to } = await converse(greeting);
    expect((await hear('Hi')).body.content).to.equal('Hi');
    const events = await app.events();
    expect(events.map(({ name }) => name)).to.deep.equal(['message_created', 'message_created']);
    expect(events.map((event) => event.account_payload!.message_type)).to.deep.equal(['incoming', 'outgoing']);
    const { body } = await app.get(`${path}/messages`);
    expect(body.payload[1]).to.deep.include({
      content: greeting.greeting_message,
      message_type: 'outgoing',
      private: false,
      sender: null,
    });
    const record = (await app.get(path)).body;
    expect(record.unread_count, 'nobody has read it yet').to.equal(1);
    expect(record.waiting_since).to.be.a('number');
    await hear('Still there?');
    await to('resolved');
    await hear('Hi again');
    expect(await contents()).to.deep.equal(['Hi', greeting.greeting_message, 'Still there?', 'Hi again']);
  });

  it('no greeting where none is enabled or written, and none for the blocked', async () => {
    for (const settings of [
      { ...greeting, greeting_enabled: false },
      { ...greeting, greeting_message: ' ' },
      { ...greeting, greeting_message: null },
    ]) {
      const { hear, contents } = await converse(settings);
      await hear('Hi');
      expect(await contents()).to.deep.equal(['Hi']);
    }
    const { hear, contents, contactId } = await converse(greeting);
    await app.query('UPDATE contacts SET blocked = true WHERE id = $1', [contactId]);
    await app.events();
    await hear('Hi');
    expect(await contents()).to.deep.equal(['Hi']);
    expect(await app.eventNames()).to.deep.equal(['message_created']);
  });

  it('a word of an agent before does not count as the first of the customer', async () => {
    const { say, hear, contents } = await converse(greeting);
    await say('Can we help?');
    await hear('Yes');
    expect(await contents()).to.deep.equal(['Can we help?', 'Yes', greeting.greeting_message]);
  });

  it('outside of working hours the out-of-office message takes its place, at every new beginning', async () => {
    const { hear, contents, to } = await converse({ ...greeting, ...office });
    now = night;
    await hear('Hi');
    await hear('Hello?');
    await to('resolved');
    await hear('Me again');
    expect(await contents()).to.deep.equal(['Hi', 'We are asleep.', 'Hello?', 'Me again', 'We are asleep.']);
    expect(await app.eventNames()).to.deep.equal([
      'message_created',
      'message_created',
      'message_created',
      'conversation_status_changed',
      'conversation_status_changed',
      'message_created',
      'message_created',
    ]);
    now = noon + 3 * 86_400_000;
    await to('resolved');
    await hear('In time');
    expect((await contents()).slice(5)).to.deep.equal(['In time']);
  });

  it('within working hours the greeting is said, and without an out-of-office message always', async () => {
    now = noon + 7 * 86_400_000;
    const within = await converse({ ...greeting, ...office });
    await within.hear('Hi');
    expect(await within.contents()).to.deep.equal(['Hi', greeting.greeting_message]);
    now = night + 7 * 86_400_000;
    const without = await converse({ ...greeting, ...office, out_of_office_message: null });
    await without.hear('Hi');
    expect(await without.contents()).to.deep.equal(['Hi', greeting.greeting_message]);
  });

  it('a bot is not confused: it goes on, and hears the greeting as nobody’s', async () => {
    const bot = await addWebhookBot(app, 'Robbi');
    const { path, inboxId, hear } = await converse(greeting, { status: 'pending' });
    await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: bot.id });
    await hear('Hi');
    const events = await app.events();
    expect(events.map(({ bot_id: id, bot_silence: silence }) => [id, silence])).to.deep.equal([
      [bot.id, null],
      [bot.id, null],
    ]);
    expect(events[1]!.bot_payload).to.deep.include({ message_type: 'outgoing', sender: null });
    expect((await app.get(`${path}/agent_bot`)).body).to.include({ answers: true });
    const answer = await app.post(`${path}/messages`, { content: 'Yes?', message_type: 'outgoing' }, bot.headers);
    expect(answer.status).to.equal(201);
  });

  it('hours are read by the clocks of the time zone, summer time included', () => {
    const usual = weekOf([]);
    const open = (moment: string, timezone = 'Europe/Berlin', week = usual) => isOpen(week, timezone, new Date(moment));
    expect(open('2026-11-20T08:00:00Z')).to.equal(true);
    expect(open('2026-11-20T07:59:59Z')).to.equal(false);
    expect(open('2026-11-20T15:59:59Z')).to.equal(true);
    expect(open('2026-11-20T16:00:00Z')).to.equal(false);
    expect(open('2026-07-17T07:00:00Z'), 'summer time').to.equal(true);
    expect(open('2026-11-21T12:00:00Z'), 'Saturday').to.equal(false);
    expect(open('2026-11-23T00:30:00Z', 'Pacific/Auckland'), 'Monday afternoon there').to.equal(true);
    expect(open('2026-11-20T12:00:00Z', 'America/Los_Angeles'), 'night there').to.equal(false);
    const late = usual.map((day) => (day.day_of_week === 5 ? { ...day, open_hour: 0, close_hour: 24 } : day));
    expect(open('2026-11-20T00:00:00Z', 'UTC', late)).to.equal(true);
    expect(open('2026-11-20T23:59:59Z', 'UTC', late)).to.equal(true);
    const always = usual.map((day) => ({ ...day, closed_all_day: false, open_all_day: true }));
    expect(open('2026-11-22T03:00:00Z', 'UTC', always)).to.equal(true);
  });
});
