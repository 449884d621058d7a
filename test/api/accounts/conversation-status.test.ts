import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';
import { addContact, addConversation, addInbox, addMessage, addTeam, addWebhookBot } from '../../support/records.ts';

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600;

describe('conversation status', () => {
  let app: TestApp;
  let member: Person;
  let outsider: Person;
  let bot: Person;
  let inbox: number;
  let botInbox: number;
  let contact: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    member = await addPerson(app, { name: 'Member' });
    outsider = await addPerson(app, { name: 'Outsider' });
    bot = await addWebhookBot(app, 'Helper');
    inbox = await addInbox(app, { members: [member] });
    botInbox = await addInbox(app, { members: [member], botId: bot.id });
    contact = await addContact(app);
  });

  beforeEach(() => app.events());
  after(() => app.stop());

  describe('of a new conversation', () => {
    const create = (fields: object, person?: Person) =>
      app.post('conversations', { inbox_id: inbox, contact_id: contact, ...fields }, person?.headers);

    it('is open without a bot, pending with one, and what the caller says', async () => {
      const cases: [object, string][] = [
        [{}, 'open'],
        [{ inbox_id: botInbox }, 'pending'],
        [{ inbox_id: botInbox, status: 'open' }, 'open'],
        [{ status: 'pending' }, 'pending'],
        [{ status: 'resolved' }, 'resolved'],
        [{ inbox_id: botInbox, assignee_id: member.id }, 'open'],
      ];
      for (const [fields, status] of cases) {
        const answer = await create(fields);
        expect(answer.status).to.equal(201);
        expect(answer.body.status, JSON.stringify(fields)).to.equal(status);
        expect(await app.eventNames()).to.deep.equal(['conversation_created']);
      }
    });

    it('comes with everything that was said about it', async () => {
      const team = await addTeam(app, 'Sales');
      const until = inAnHour();
      const { status, body } = await create(
        {
          source_id: 'thread-7',
          status: 'snoozed',
          snoozed_until: until,
          assignee_id: member.id,
          team_id: team,
          message: { content: 'Welcome' },
          additional_attributes: { page: '/pricing' },
          custom_attributes: { plan: 'pro' },
        },
        member,
      );
      expect(status).to.equal(201);
      expect(body).to.deep.include({
        source_id: 'thread-7',
        status: 'snoozed',
        snoozed_until: until,
        unread_count: 0,
        additional_attributes: { page: '/pricing' },
        custom_attributes: { plan: 'pro' },
        labels: [],
        priority: null,
      });
      expect(body.meta).to.deep.include({
        assignee: { id: member.id, name: 'Member' },
        team: { id: team, name: 'Sales' },
      });
      expect(body.last_message).to.deep.include({
        content: 'Welcome',
        sender: { id: member.id, name: 'Member', type: 'User' },
      });
      expect((await app.get(`conversations/${body.id}`)).body).to.deep.equal(body);
      expect(await app.eventNames()).to.deep.equal(['conversation_created', 'message_created']);
    });

    it('is none when something is wrong with it', async () => {
      const refusals: [number, object, Person?][] = [
        [422, { contact_id: undefined }],
        [422, { inbox_id: 'one' }],
        [422, { status: 'closed' }],
        [422, { status: 'snoozed' }],
        [422, { status: 'snoozed', snoozed_until: 1 }],
        [422, { message: {} }],
        [403, {}, bot],
        [403, {}, outsider],
      ];
      for (const [status, fields, person] of refusals) {
        expect((await create(fields, person)).status, JSON.stringify(fields)).to.equal(status);
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });

  describe('by toggle_status', () => {
    async function open(inboxId = inbox): Promise<number> {
      const id = await addConversation(app, inboxId, { contactId: contact });
      await app.events();
      return id;
    }

    const toggle = (id: number, body: object, person?: Person) =>
      app.post(`conversations/${id}/toggle_status`, body, person?.headers);

    it('goes from each to each, and says so once', async () => {
      const id = await open();
      const states = [
        'resolved',
        'pending',
        'snoozed',
        'open',
        'snoozed',
        'resolved',
        'open',
        'pending',
        'resolved',
        'snoozed',
        'pending',
        'open',
      ];
      let previous = 'open';
      for (const status of states) {
        const body = status === 'snoozed' ? { status, snoozed_until: inAnHour() } : { status };
        for (const times of [1, 0]) {
          const answer = await toggle(id, body);
          expect(answer.status).to.equal(200);
          expect(answer.body).to.include(body);
          if (status !== 'snoozed') expect(answer.body.snoozed_until).to.equal(null);
          const events = await app.events();
          expect(events.map(({ name }) => name)).to.deep.equal(Array(times).fill('conversation_status_changed'));
          for (const { account_payload: payload } of events) {
            const { status: change } = payload!.changed_attributes as Record<string, unknown>;
            expect(change).to.deep.equal({ previous, current: status });
          }
        }
        previous = status;
      }
    });

    it('tells the bot that its conversation was resolved or reopened', async () => {
      const id = await open(botInbox);
      await toggle(id, { status: 'resolved' }, bot);
      expect(await app.eventNames()).to.deep.equal(['conversation_status_changed', 'conversation_resolved']);
      await toggle(id, { status: 'open' });
      const [, opened] = await app.events();
      expect(opened).to.include({
        name: 'conversation_opened',
        bot_id: bot.id,
        bot_silence: null,
        account_payload: null,
      });
      expect(opened!.bot_payload).to.deep.include({ event: 'conversation_opened', id, status: 'open', account_id: 1 });
      await toggle(id, { status: 'pending' });
      expect(await app.eventNames()).to.deep.equal(['conversation_status_changed']);
    });

    it('moves a snooze without calling it a change of status', async () => {
      const id = await open();
      await toggle(id, { status: 'snoozed', snoozed_until: inAnHour() });
      const later = inAnHour() + 60;
      await app.events();
      expect((await toggle(id, { status: 'snoozed', snoozed_until: later })).body.snoozed_until).to.equal(later);
      expect(await app.eventNames()).to.deep.equal(['conversation_updated']);
    });

    it('refuses what is not there or not allowed', async () => {
      const id = await open();
      const { id: account, administrator } = await addAccount(app, 'Elsewhere');
      const refusals: [number, string, object, Person?][] = [
        [422, `conversations/${id}/toggle_status`, {}],
        [422, `conversations/${id}/toggle_status`, { status: 'closed' }],
        [422, `conversations/${id}/toggle_status`, { status: 'snoozed' }],
        [422, `conversations/${id}/toggle_status`, { status: 'snoozed', snoozed_until: 'tomorrow' }],
        [422, `conversations/${id}/toggle_status`, { status: 'snoozed', snoozed_until: 1 }],
        [404, 'conversations/99999999/toggle_status', { status: 'open' }],
        [400, 'conversations/x/toggle_status', { status: 'open' }],
        [403, `conversations/${id}/toggle_status`, { status: 'resolved' }, outsider],
        [403, `conversations/${id}/toggle_status`, { status: 'resolved' }, bot],
        [404, `/api/v1/accounts/${account}/conversations/${id}/toggle_status`, { status: 'open' }, administrator],
      ];
      for (const [status, path, body, person] of refusals) {
        expect((await app.post(path, body, person?.headers)).status, JSON.stringify([path, body])).to.equal(status);
      }
      expect((await app.get(`conversations/${id}`)).body.status).to.equal('open');
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });

  describe('by a customer’s word', () => {
    const cases: [string, boolean, string, string[]][] = [
      ['resolved', true, 'pending', ['conversation_status_changed', 'conversation_opened', 'message_created']],
      ['resolved', false, 'open', ['conversation_status_changed', 'message_created']],
      ['snoozed', true, 'open', ['conversation_status_changed', 'message_created']],
      ['pending', true, 'pending', ['message_created']],
      ['open', false, 'open', ['message_created']],
    ];
    for (const [from, withBot, to, events] of cases) {
      it(`goes from ${from} to ${to} ${withBot ? 'with' : 'without'} a bot`, async () => {
        const id = await addConversation(app, withBot ? botInbox : inbox, { contactId: contact });
        const until = from === 'snoozed' ? { snoozed_until: inAnHour() } : {};
        await app.post(`conversations/${id}/toggle_status`, { status: from, ...until });
        await app.events();
        await addMessage(app, id, 'Hello?', { message_type: 'incoming' });
        const { body } = await app.get(`conversations/${id}`);
        expect(body).to.include({ status: to, unread_count: 1, snoozed_until: null });
        expect(await app.eventNames()).to.deep.equal(events);
      });
    }

    it('stays as it is when the customer is blocked', async () => {
      const blocked = await addContact(app, { blocked: true });
      const id = await addConversation(app, botInbox, { contactId: blocked, status: 'resolved' });
      await app.events();
      await addMessage(app, id, 'Hello?', { message_type: 'incoming' });
      expect((await app.get(`conversations/${id}`)).body.status).to.equal('resolved');
      const [event, ...others] = await app.events();
      expect(others).to.deep.equal([]);
      expect(event).to.include({ name: 'message_created', bot_silence: 'contact_blocked' });
    });
  });
});
