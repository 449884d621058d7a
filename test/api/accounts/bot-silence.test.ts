import { expect } from 'chai';
import { wakeDueSnoozes } from '../../../src/domain/conversations/deadlines/snoozes.ts';
import { TestApp } from '../../support/app.ts';
import { addPerson, type Person } from '../../support/people.ts';
import { addContact, addConversation, addInbox, addMessage, addWebhookBot } from '../../support/records.ts';

const minute = 60_000;

describe('the silence of a bot, act after act,', () => {
  let app: TestApp;
  let now = Date.now();
  const clock = { now: () => new Date(now), advance: (ms: number) => void (now += ms) };
  let member: Person;
  let usual: Person;
  let other: Person;
  let inbox: number;

  before(async () => {
    app = await TestApp.start({ engine: false, clock });
    member = await addPerson(app, { name: 'Member' });
    usual = await addWebhookBot(app, 'Usual');
    other = await addWebhookBot(app, 'Other');
  });

  beforeEach(async () => {
    inbox = await addInbox(app, { members: [member], botId: usual.id });
  });

  after(() => app.stop());

  const open = (fields = {}) => addConversation(app, inbox, fields);
  const to = (id: number, status: string, by?: Person) => {
    const snooze = status === 'snoozed' ? { snoozed_until: Math.floor(clock.now().getTime() / 1000) + 600 } : {};
    return app.post(`conversations/${id}/toggle_status`, { status, ...snooze }, by?.headers);
  };
  const reply = (id: number, by?: Person) => addMessage(app, id, 'A reply', by ? { headers: by.headers } : {});
  const ask = (id: number) => addMessage(app, id, 'A question', { message_type: 'incoming' });
  const assign = (id: number, to_: number | null) => app.post(`conversations/${id}/assignments`, { assignee_id: to_ });
  const choose = (id: number, bot: Person | null) =>
    app.post(`conversations/${id}/agent_bot`, { agent_bot_id: bot && bot.id });
  const serve = (bot: Person | null) => app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: bot && bot.id });
  const statusOf = async (id: number): Promise<string> => (await app.get(`conversations/${id}`)).body.status;

  async function explain(id: number): Promise<unknown[]> {
    const { agent_bot: bot, reason } = (await app.get(`conversations/${id}/agent_bot`)).body;
    return [bot?.id ?? null, reason];
  }

  /** Whether the customer's next word reaches the bot, and the bot's answer the customer. */
  async function expectAnswer(id: number, bot: Person): Promise<void> {
    await app.events();
    await ask(id);
    const heard = (await app.events()).find(({ name }) => name === 'message_created');
    expect([heard?.bot_id, heard?.bot_silence]).to.deep.equal([bot.id, null]);
    const answer = await app.post(
      `conversations/${id}/messages`,
      { content: 'An answer', message_type: 'outgoing' },
      bot.headers,
    );
    expect(answer.status).to.equal(201);
  }

  /** Takes the clock past the minute that bots' messages are counted in. */
  async function speakSlowly(id: number, bot: Person, times: number): Promise<number[]> {
    const answered: number[] = [];
    for (let said = 0; said < times; said += 1) {
      clock.advance(minute);
      const message = { content: 'On and on', message_type: 'outgoing' };
      answered.push((await app.post(`conversations/${id}/messages`, message, bot.headers)).status);
    }
    return answered;
  }

  describe('pending, once more', () => {
    it('by a person gives the bot its conversation back, and says nothing since nothing shows', async () => {
      const id = await open();
      // As 0.1.0 left a conversation in which a person had replied.
      await app.query(`UPDATE conversations SET human_silence = 'human_replied' WHERE id = $1`, [id]);
      expect(await explain(id)).to.deep.equal([usual.id, 'human_replied']);
      const { updated_at: before } = (await app.get(`conversations/${id}`)).body;
      clock.advance(minute);
      await app.events();
      expect((await to(id, 'pending')).status).to.equal(200);
      expect(await app.eventNames()).to.deep.equal([]);
      expect((await app.get(`conversations/${id}`)).body).to.include({ status: 'pending', updated_at: before });
      expect(await explain(id)).to.deep.equal([usual.id, null]);
      await expectAnswer(id, usual);
    });

    it('lets a bot speak again that had used up its messages', async () => {
      const id = await open();
      expect(await speakSlowly(id, usual, 20)).to.deep.equal(Array(20).fill(201));
      await to(id, 'pending');
      expect(await speakSlowly(id, usual, 1)).to.deep.equal([201]);
    });

    it('by the bot itself does not', async () => {
      const id = await open();
      await speakSlowly(id, usual, 20);
      for (const status of ['pending', 'snoozed', 'pending', 'resolved', 'pending']) {
        expect((await to(id, status, usual)).status, status).to.equal(200);
      }
      expect(await speakSlowly(id, usual, 1)).to.deep.equal([403]);
      expect(await explain(id)).to.deep.equal([usual.id, 'loop_suspected']);
    });

    it('does not unassign anybody', async () => {
      const id = await open();
      await assign(id, member.id);
      await to(id, 'pending');
      expect(await explain(id)).to.deep.equal([usual.id, 'human_assigned']);
    });
  });

  describe('a stop for a loop', () => {
    it('ends when a person sets the conversation to pending: the bot speaks before the customer does', async () => {
      const id = await open();
      expect(await speakSlowly(id, usual, 21)).to.deep.equal([...Array(20).fill(201), 403]);
      expect(await explain(id)).to.deep.equal([usual.id, 'loop_suspected']);
      await to(id, 'pending');
      expect(await speakSlowly(id, usual, 20)).to.deep.equal(Array(20).fill(201));
      expect(await speakSlowly(id, usual, 1)).to.deep.equal([403]);
    });

    it('ends with the session, and its count does', async () => {
      const id = await open();
      await speakSlowly(id, usual, 21);
      await to(id, 'resolved');
      await to(id, 'open');
      expect(await speakSlowly(id, usual, 20)).to.deep.equal(Array(20).fill(201));
    });

    it('comes with the eleventh message within a minute, be they seconds apart; notes do not count', async () => {
      const id = await open();
      const write = async (fields: object) => {
        clock.advance(5_000);
        const message = { content: 'On and on', message_type: 'outgoing', ...fields };
        return (await app.post(`conversations/${id}/messages`, message, usual.headers)).status;
      };
      for (let note = 0; note < 12; note += 1) expect(await write({ private: true })).to.equal(201);
      for (let said = 0; said < 10; said += 1) expect(await write({}), `message ${said}`).to.equal(201);
      expect(await write({})).to.equal(403);
      expect(await explain(id)).to.deep.equal([usual.id, 'loop_suspected']);
    });

    it('never comes while the customer goes on: 25 questions, 25 answers', async () => {
      const id = await open();
      for (let turn = 0; turn < 25; turn += 1) {
        await ask(id);
        expect(await speakSlowly(id, usual, 1), `turn ${turn}`).to.deep.equal([201]);
      }
    });
  });

  describe('a snooze', () => {
    it('ended by the alarm is no opening by people: the bot goes on', async () => {
      const id = await open();
      await to(id, 'snoozed');
      clock.advance(11 * minute);
      expect(await wakeDueSnoozes(app.app.database)).to.equal(1);
      expect(await statusOf(id)).to.equal('open');
      await expectAnswer(id, usual);
    });

    it('ended by a person is one', async () => {
      const id = await open();
      await to(id, 'snoozed');
      await to(id, 'open');
      expect(await explain(id)).to.deep.equal([usual.id, 'human_opened']);
    });

    it('ended by the alarm, or by the customer, leaves a silence as it is', async () => {
      for (const wake of [() => wakeDueSnoozes(app.app.database), ask]) {
        const id = await open();
        await reply(id);
        await to(id, 'snoozed');
        clock.advance(11 * minute);
        await wake(id);
        expect(await statusOf(id)).to.equal('open');
        expect(await explain(id)).to.deep.equal([usual.id, 'human_replied']);
      }
    });
  });

  describe('a team that is assigned', () => {
    it('after a person replied leaves it as it is', async () => {
      const { body: team } = await app.post('teams', { name: `team-${inbox}` });
      const id = await open();
      await reply(id);
      await app.post(`conversations/${id}/assignments`, { team_id: team.id });
      expect(await explain(id)).to.deep.equal([usual.id, 'human_replied']);
      await app.post(`conversations/${id}/assignments`, { team_id: null });
      expect(await explain(id)).to.deep.equal([usual.id, 'human_replied']);
    });
  });

  describe('a handoff', () => {
    it('outlasts a reply, an assignment and its end', async () => {
      const id = await open();
      await to(id, 'open', usual);
      await reply(id);
      expect(await explain(id)).to.deep.equal([usual.id, 'handed_off']);
      await assign(id, member.id);
      await assign(id, null);
      expect(await explain(id)).to.deep.equal([usual.id, 'handed_off']);
    });

    it('is not inherited by the inbox’s next bot', async () => {
      const id = await open();
      await to(id, 'open', usual);
      await serve(other);
      expect(await explain(id)).to.deep.equal([other.id, null]);
      await expectAnswer(id, other);
    });

    it('is not inherited by a bot chosen for the conversation, nor by the inbox’s once that one is deleted', async () => {
      const id = await open();
      await to(id, 'open', usual);
      const brief = await addWebhookBot(app, 'Brief');
      await choose(id, brief);
      expect(await explain(id)).to.deep.equal([brief.id, null]);
      await to(id, 'pending');
      await to(id, 'open', brief);
      expect(await explain(id)).to.deep.equal([brief.id, 'handed_off']);
      expect((await app.delete(`agent_bots/${brief.id}`)).status).to.equal(200);
      expect(await explain(id)).to.deep.equal([usual.id, null]);
      await expectAnswer(id, usual);
    });

    it('in which a person replied keeps the inbox’s next bot silent, in that person’s name', async () => {
      const id = await open();
      await to(id, 'open', usual);
      await reply(id);
      await serve(other);
      expect(await explain(id)).to.deep.equal([other.id, 'human_replied']);
      await ask(id);
      expect(await explain(id)).to.deep.equal([other.id, 'human_replied']);
    });
  });

  describe('people’s hold on a conversation', () => {
    it('keeps the inbox’s next bot silent', async () => {
      for (const [take, reason] of [
        [reply, 'human_replied'],
        [(id: number) => to(id, 'open'), 'human_opened'],
      ] as const) {
        await serve(usual);
        const id = await open();
        await take(id);
        for (const bot of [other, null, usual]) await serve(bot);
        expect(await explain(id)).to.deep.equal([usual.id, reason]);
      }
    });

    it('ends when a person gives the conversation to a bot', async () => {
      const id = await open();
      await reply(id);
      await choose(id, other);
      expect(await explain(id)).to.deep.equal([other.id, null]);
      await expectAnswer(id, other);
      await reply(id);
      await choose(id, null);
      expect(await explain(id)).to.deep.equal([usual.id, null]);
      await expectAnswer(id, usual);
    });

    it('does not end so while a person is assigned', async () => {
      const id = await open();
      await reply(id);
      await assign(id, member.id);
      await choose(id, other);
      expect(await explain(id)).to.deep.equal([other.id, 'human_assigned']);
      const { body } = await app.post(
        `conversations/${id}/messages`,
        { content: 'An answer', message_type: 'outgoing' },
        other.headers,
      );
      expect(body.code).to.equal('bot_suppressed');
      await assign(id, null);
      await expectAnswer(id, other);
    });

    it('outlives the deletion of the bot that was chosen', async () => {
      const brief = await addWebhookBot(app, 'Brief');
      const id = await open();
      await choose(id, brief);
      await reply(id);
      await app.delete(`agent_bots/${brief.id}`);
      expect(await explain(id)).to.deep.equal([usual.id, 'human_replied']);
    });

    it('begins with a first message, unless the conversation is given to the bot with it', async () => {
      const contactId = await addContact(app);
      const message = { content: 'Hello' };
      const taken = await open({ contactId, message });
      expect([await statusOf(taken), ...(await explain(taken))]).to.deep.equal(['open', usual.id, 'human_replied']);
      await app.events();
      const given = await open({ contactId, message, status: 'pending' });
      expect(await app.eventNames()).to.deep.equal(['conversation_created', 'message_created']);
      expect([await statusOf(given), ...(await explain(given))]).to.deep.equal(['pending', usual.id, null]);
      await expectAnswer(given, usual);
    });
  });

  it('a person’s reply takes a pending conversation out of the bot’s queue, before it is told', async () => {
    const id = await open();
    await app.events();
    await addMessage(app, id, 'A note', { private: true });
    expect(await statusOf(id)).to.equal('pending');
    await reply(id, member);
    expect(await statusOf(id)).to.equal('open');
    const events = await app.events();
    expect(events.map(({ name }) => name)).to.deep.equal([
      'message_created',
      'conversation_status_changed',
      'message_created',
    ]);
    expect(events[1]!.account_payload!.changed_attributes).to.deep.equal({
      status: { previous: 'pending', current: 'open' },
    });
  });

  it('a message of the service itself takes it from nobody', async () => {
    await app.patch(`inboxes/${inbox}`, { greeting_enabled: true, greeting_message: 'Welcome' });
    const id = await open();
    await ask(id);
    expect(await statusOf(id)).to.equal('pending');
    expect(await explain(id)).to.deep.equal([usual.id, null]);
  });

  it('waiting ends with a resolution', async () => {
    const id = await open();
    await ask(id);
    expect((await app.get(`conversations/${id}`)).body.waiting_since).to.be.a('number');
    await to(id, 'resolved');
    expect((await app.get(`conversations/${id}`)).body.waiting_since).to.equal(null);
    clock.advance(minute);
    await ask(id);
    expect((await app.get(`conversations/${id}`)).body.waiting_since).to.equal(
      Math.floor(clock.now().getTime() / 1000),
    );
  });
});
