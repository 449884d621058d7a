import { expect } from 'chai';
import { callScheduled } from '../../src/domain/bots/schedules.ts';
import { TestApp } from '../support/app.ts';
import { Customers } from '../support/conversing.ts';
import { addPerson, type User } from '../support/people.ts';
import { Receiver } from '../support/receiver.ts';
import type { Body } from '../support/sending.ts';

describe('sample automations', function () {
  this.timeout(120_000);
  let app: TestApp;
  let customers: Customers;
  let inbox: number;
  let ada: User;
  let bert: User;
  let made: number[] = [];

  before(async () => {
    app = await TestApp.start();
    customers = new Customers(app);
    inbox = await customers.inbox('Shop');
    [ada, bert] = [await addPerson(app, { name: 'Ada' }), await addPerson(app, { name: 'Bert' })];
    await app.post(`inboxes/${inbox}/members`, { user_ids: [ada.id, bert.id] });
  });
  after(() => app.stop());
  afterEach(async () => {
    for (const id of made) await app.delete(`automations/${id}`);
    made = [];
  });

  const start = async (plugin: string, config: object, secrets: object = {}): Promise<number> => {
    const { status, body } = await app.post('automations', { name: plugin, plugin_id: plugin, config, secrets });
    expect(status, JSON.stringify(body)).to.equal(201);
    made.push(body.id);
    return body.id;
  };
  const record = async (id: number): Promise<Body> => (await app.get(`conversations/${id}`)).body;
  const said = async (id: number): Promise<[string, boolean][]> => {
    const { payload } = (await app.get(`conversations/${id}/messages`)).body;
    return (payload as Body[]).map(({ content, private: isNote }) => [content, isNote]);
  };
  /** Waits until an automation has handled all of its events. */
  const settled = async (id: number): Promise<void> => {
    await app.eventually(
      async () =>
        (await app.query(`SELECT FROM deliveries WHERE endpoint_id = $1 AND state = 'pending'`, [id])).length === 0,
    );
    const { payload } = (await app.get(`runs?automation_id=${id}`)).body;
    expect((payload as Body[]).filter(({ error }) => error)).to.deep.equal([]);
  };
  const namesIn = async (id: number): Promise<string[]> =>
    (
      await app.query<{ name: string }>('SELECT name FROM bot_schedules WHERE conversation_id = $1 ORDER BY name', [id])
    ).map(({ name }) => name);
  /** Time passes until a scheduled call of the conversation is due. */
  const due = async (automation: number, conversation: number, name: string): Promise<void> => {
    await settled(automation);
    const moved = await app.query(
      `UPDATE bot_schedules SET at = now() - interval '1 second' WHERE conversation_id = $1 AND name = $2 RETURNING 1`,
      [conversation, name],
    );
    expect(moved, name).to.have.lengthOf(1);
    await callScheduled(app.app.database);
    await settled(automation);
  };
  const answers = (id: number, content: string, { headers }: Pick<User, 'headers'>) =>
    app.post(`conversations/${id}/messages`, { content, message_type: 'outgoing' }, headers);

  it('auto-resolve says a word before, and resolves what nobody has written in', async () => {
    const id = await start('auto-resolve', { message: 'Still there?', waiting: true });
    const conversation = await customers.writes(inbox, 'Mia', 'Hello');
    await due(id, conversation, 'idle');
    await due(id, conversation, 'word');
    const notice: [string, boolean] = ['Will be resolved in 1 day unless somebody writes', true];
    expect(await said(conversation)).to.deep.equal([['Hello', false], notice, ['Still there?', false]]);
    expect((await record(conversation)).status).to.equal('open');
    // An answer begins anew: the call that is left does nothing.
    await customers.says(conversation, 'Yes');
    await due(id, conversation, 'resolve');
    expect((await record(conversation)).status).to.equal('open');
    await due(id, conversation, 'idle');
    await due(id, conversation, 'resolve');
    expect((await record(conversation)).status).to.equal('resolved');
  });

  it('auto-resolve leaves a waiting customer alone, and speaks to nobody whom an agent serves', async () => {
    const id = await start('auto-resolve', { message: 'Still there?' });
    const conversation = await customers.writes(inbox, 'Mia', 'Hello');
    await due(id, conversation, 'idle');
    expect([await namesIn(conversation), (await said(conversation)).length]).to.deep.equal([[], 1]);
    await answers(conversation, 'Here I am', ada);
    await due(id, conversation, 'idle');
    await app.query(`UPDATE bot_schedules SET at = now() - interval '1 second' WHERE name = 'word'`);
    await callScheduled(app.app.database);
    await app.eventually(async () => {
      const [last] = (await app.get(`runs?automation_id=${id}`)).body.payload as Body[];
      return last!.outcome === 'superseded';
    });
    expect((await said(conversation)).map(([content]) => content)).not.to.include('Still there?');
    await app.query(`UPDATE bot_schedules SET at = now() - interval '1 second' WHERE name = 'resolve'`);
    await callScheduled(app.app.database);
    await app.eventually(async () => (await record(conversation)).status === 'resolved');
  });

  it('round-robin assigns to the agent with the fewest conversations, up to the most', async () => {
    const agents = [{ agent_id: ada.id }, { agent_id: bert.id }];
    const id = await start('round-robin', { agents, most: 2 });
    const owners: number[] = [];
    const conversations: number[] = [];
    for (const name of ['One', 'Two', 'Three', 'Four']) {
      const conversation = await customers.writes(inbox, name, 'Hello');
      await app.eventually(async () => (await record(conversation)).meta.assignee !== null);
      await settled(id);
      owners.push((await record(conversation)).meta.assignee.id);
      conversations.push(conversation);
    }
    expect(owners.toSorted((one, other) => one - other)).to.deep.equal([ada.id, ada.id, bert.id, bert.id]);
    const fifth = await customers.writes(inbox, 'Five', 'Hello');
    await settled(id);
    expect((await record(fifth)).meta.assignee).to.equal(null);
    // A resolved conversation makes room for the one that waits.
    await app.post(`conversations/${conversations[0]}/toggle_status`, { status: 'resolved' });
    await due(id, fifth, 'look');
    expect((await record(fifth)).meta.assignee.id).to.equal(owners[0]);
  });

  it('round-robin passes over agents who are not there', async () => {
    const agents = [{ agent_id: ada.id, opens: 24 }, { agent_id: bert.id }];
    const id = await start('round-robin', { agents });
    for (const name of ['One', 'Two', 'Three']) {
      const conversation = await customers.writes(inbox, name, 'Hello');
      await app.eventually(async () => (await record(conversation)).meta.assignee?.id === bert.id);
    }
    await settled(id);
  });

  it('first-response reminds of a customer without an answer, once, and again while the webhook fails', async () => {
    const chat = await Receiver.start();
    try {
      let status = 500;
      chat.answerWith((_, response) => response.writeHead(status).end());
      const server = new URL(chat.url).origin;
      const id = await start(
        'first-response',
        { server, minutes: 5, console_url: 'https://desk.example/console' },
        { WEBHOOK_PATH: 'services/T1/B1' },
      );
      const conversation = await customers.writes(inbox, 'Mia', 'Hello');
      await due(id, conversation, 'remind');
      status = 200;
      await due(id, conversation, 'remind');
      expect(await namesIn(conversation)).to.deep.equal([]);
      const text = `<https://desk.example/console/conversations/${conversation}|Conversation ${conversation}> has waited 5 minutes for a first answer (not assigned).`;
      expect(chat.received.map(({ body }) => body)).to.deep.equal([{ text }, { text }]);
      const answered = await customers.writes(inbox, 'Ben', 'Hello');
      await answers(answered, 'Hi', ada);
      await due(id, answered, 'remind');
      expect(chat.received).to.have.lengthOf(2);
      // The next session waits for an answer of its own.
      await app.post(`conversations/${answered}/toggle_status`, { status: 'resolved' });
      await settled(id);
      await customers.says(answered, 'One more thing');
      await due(id, answered, 'remind');
      expect(chat.received).to.have.lengthOf(3);
    } finally {
      await chat.close();
    }
  });

  it('rules treat customers with an attribute first', async () => {
    await app.post('labels', { title: 'vip' });
    // From JSON: an object with `then` looks like a promise.
    const config = JSON.parse(`{"rules":[{"name":"Enterprise first","on":["conversation_created"],
      "if":{"all":[{"attribute":"contact.plan","operator":"equal_to","values":["enterprise"]}]},
      "then":[{"action":"add_labels","labels":["vip"]},{"action":"priority","priority":"urgent"}]}]}`) as object;
    const id = await start('rules', config);
    const first = await customers.writes(inbox, 'Mia', 'Hello', { custom_attributes: { plan: 'Enterprise' } });
    const other = await customers.writes(inbox, 'Ben', 'Hello', { custom_attributes: { plan: 'free' } });
    await settled(id);
    expect(await record(first)).to.deep.include({ priority: 'urgent', labels: ['vip'] });
    expect(await record(other)).to.deep.include({ priority: null, labels: [] });
  });
});
