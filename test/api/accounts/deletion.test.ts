import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Client } from 'pg';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';
import { addContact, addConversation, addInbox, addMessage, addWebhookBot } from '../../support/records.ts';
import { Receiver, verify } from '../../support/receiver.ts';

const deletions = ['conversation_deleted', 'contact_deleted'];

describe('deletion', () => {
  let app: TestApp;
  let agent: Person;
  let bot: Person;
  let inbox: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    bot = await addWebhookBot(app, 'Helper');
    agent = await addPerson(app, { name: 'Agent' });
    inbox = await addInbox(app, { members: [agent], botId: bot.id });
    await app.query(`INSERT INTO labels (account_id, title) VALUES (1, 'red')`);
    await app.query(
      `INSERT INTO webhooks (account_id, url, secret, subscriptions) VALUES (1, 'https://example.com/', 'sealed', $1)`,
      [['conversation_created', 'message_created', 'contact_created', ...deletions]],
    );
  });

  beforeEach(() => app.events());
  after(() => app.stop());

  /** A contact with a conversation that has left its traces everywhere. */
  async function populate(): Promise<{ contact: number; conversation: number }> {
    const contact = await addContact(app);
    const conversation = await addConversation(app, inbox, { contactId: contact });
    await addMessage(app, conversation, 'My secret is 4711', { message_type: 'incoming' });
    await app.post(`conversations/${conversation}/labels`, { labels: ['red'] });
    await app.post(`contacts/${contact}/notes`, { content: 'knows 4711' });
    await app.query(
      `INSERT INTO contact_tokens (account_id, inbox_id, contact_id, token_hash) VALUES (1, $1, $2, $3)`,
      [inbox, contact, Buffer.from(`token ${contact}`)],
    );
    await app.query(
      `INSERT INTO attempts (account_id, delivery_id, number, outcome) SELECT d.account_id, d.id, 1, 'failed'
       FROM deliveries d JOIN events e ON e.id = d.event_id WHERE e.conversation_id = $1`,
      [conversation],
    );
    await app.query(
      `INSERT INTO bot_runs (account_id, agent_bot_id, conversation_id, event_id, attempt, plugin_id, plugin_version,
         bundle_hash, config, seed, clock, outcome, actions, logs, wall_ms)
       SELECT 1, $1, $2, min(id), 1, 'p', '1', 'h', '{}', 1, now(), 'ok', '[]', '[]', 1 FROM events WHERE conversation_id = $2`,
      [bot.id, conversation],
    );
    await app.events();
    return { contact, conversation };
  }

  const holders = [
    'conversations',
    'messages',
    'conversation_labels',
    'events',
    'deliveries',
    'attempts',
    'lanes',
    'bot_runs',
    'contacts',
    'contact_notes',
    'contact_tokens',
  ];

  /** How many rows there are of everything. */
  async function census(): Promise<Record<string, number>> {
    const parts = holders.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`);
    const [row] = await app.query<Record<string, number>>(`SELECT ${parts.join(', ')}`);
    return row!;
  }

  it('of a conversation leaves its event, its delivery, and nothing else', async () => {
    const contact = await addContact(app);
    await addMessage(app, await addConversation(app, inbox), 'of somebody else', { message_type: 'incoming' });
    const before = await census();
    const conversation = await addConversation(app, inbox, { contactId: contact });
    await addMessage(app, conversation, 'My secret is 4711', { message_type: 'incoming' });
    await app.post(`conversations/${conversation}/labels`, { labels: ['red'] });
    const last = (await app.events()).at(-1)!;

    expect(await app.delete(`conversations/${conversation}`)).to.deep.include({ status: 200, body: {} });
    const { events, deliveries, lanes, ...rest } = await census();
    expect(rest).to.deep.equal(Object.fromEntries(Object.keys(rest).map((table) => [table, before[table]])));
    expect([events, deliveries, lanes]).to.deep.equal([before.events! + 1, before.deliveries! + 1, before.lanes! + 1]);
    const [event, ...others] = await app.events();
    expect(others).to.deep.equal([]);
    expect(event).to.include({
      name: 'conversation_deleted',
      conversation_id: null,
      contact_id: null,
      sequence: last.sequence! + 1,
    });
    expect(event!.account_payload).to.deep.equal({
      event: 'conversation_deleted',
      id: conversation,
      account_id: 1,
      inbox_id: inbox,
      contact_id: contact,
      account: { id: 1, name: 'Demo account' },
      sequence: last.sequence! + 1,
      actor: { type: 'user', id: 1, name: 'Administrator' },
      depth: 0,
    });
    expect(event!.bot_payload).to.equal(null);
    expect((await app.get(`conversations/${conversation}`)).status).to.equal(404);
    expect((await app.delete(`conversations/${conversation}`)).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('of a contact leaves nothing of it but the events that tell', async () => {
    const before = await census();
    const { contact, conversation } = await populate();
    const second = await addConversation(app, inbox, { contactId: contact });
    await app.events();
    expect(await app.delete(`contacts/${contact}`)).to.deep.include({ status: 200, body: {} });
    const events = await app.events();
    expect(events.map(({ name, account_payload: payload }) => [name, payload!.id])).to.deep.equal([
      ['conversation_deleted', conversation],
      ['conversation_deleted', second],
      ['contact_deleted', contact],
    ]);
    expect(events[2]).to.include({ conversation_id: null, contact_id: null });
    expect(events[2]!.account_payload).to.deep.equal({
      event: 'contact_deleted',
      id: contact,
      account_id: 1,
      account: { id: 1, name: 'Demo account' },
      actor: { type: 'user', id: 1, name: 'Administrator' },
      depth: 0,
    });
    const left = { events: before.events! + 3, deliveries: before.deliveries! + 3, lanes: before.lanes! + 3 };
    expect(await census()).to.deep.equal({ ...before, ...left });
    const [traces] = await app.query<{ count: number }>(
      `SELECT count(*) AS count FROM (SELECT content FROM messages UNION ALL SELECT content FROM contact_notes
         UNION ALL SELECT account_payload::text FROM events UNION ALL SELECT bot_payload::text FROM events) held
       WHERE content LIKE '%4711%'`,
    );
    expect(traces!.count).to.equal(0);
    for (const path of [`contacts/${contact}`, `contacts/${contact}/notes`, `conversations/${conversation}`]) {
      expect((await app.get(path)).status).to.equal(404);
    }
    expect((await app.delete(`contacts/${contact}`)).status).to.equal(404);
  });

  it('is for administrators', async () => {
    const { contact, conversation } = await populate();
    const { id, administrator } = await addAccount(app, 'Elsewhere');
    for (const path of [`conversations/${conversation}`, `contacts/${contact}`]) {
      expect((await app.delete(path, agent.headers)).status).to.equal(403);
      expect((await app.delete(path, bot.headers)).status).to.equal(403);
      expect((await app.delete(`/api/v1/accounts/${id}/${path}`, administrator.headers)).status).to.equal(404);
      expect((await app.get(path)).status).to.equal(200);
    }
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('is delivered after what is still under way', async () => {
    const { conversation } = await populate();
    const token = randomUUID();
    const [lane] = await app.query<{ id: number }>(
      `UPDATE lanes SET lease_token = $2, due_at = now() + interval '1 minute'
       WHERE subject_kind = 'conversation' AND subject_id = $1 AND endpoint_kind = 'webhook' RETURNING id`,
      [conversation, token],
    );
    await app.delete(`conversations/${conversation}`);
    const [event] = await app.events();
    const rows = await app.query(
      `SELECT l.lease_token, l.due_at > now() AS held, e.name FROM deliveries d JOIN lanes l ON l.id = d.lane_id
       JOIN events e ON e.id = d.event_id WHERE l.id = $1`,
      [lane!.id],
    );
    expect(rows).to.deep.equal([{ lease_token: token, held: true, name: event!.name }]);
  });

  it('and new conversations at once leave neither a failure nor a trace', async () => {
    const contacts = await Promise.all([1, 2, 3, 4, 5, 6].map(() => addContact(app)));
    const answers = await Promise.all(
      contacts.flatMap((contact) => [
        app.post('conversations', { inbox_id: inbox, contact_id: contact, message: { content: 'Hi' } }),
        app.delete(`contacts/${contact}`),
        app.post('conversations', { inbox_id: inbox, contact_id: contact }),
        app.post(`contacts/${contact}/notes`, { content: 'x' }),
      ]),
    );
    expect(answers.map(({ status }) => status).filter((status) => ![200, 201, 404].includes(status))).to.deep.equal([]);
    const left = await app.query('SELECT FROM conversations WHERE contact_id = ANY ($1)', [contacts]);
    expect(left).to.deep.equal([]);
    const told = (await app.eventNames()).filter((name) => name === 'contact_deleted');
    expect(told).to.have.lengthOf(contacts.length);
  });

  it('waits for a message that is being sent, and takes it along', async () => {
    const { contact, conversation } = await populate();
    const sender = new Client({ connectionString: app.databaseUrl });
    await sender.connect();
    try {
      await sender.query('BEGIN');
      await sender.query('SELECT FROM conversations WHERE id = $1 FOR UPDATE', [conversation]);
      const deleted = app.delete(`contacts/${contact}`);
      await app.eventually(async () => (await app.query('SELECT FROM pg_locks WHERE NOT granted')).length > 0);
      await sender.query('UPDATE contacts SET last_activity_at = now() WHERE id = $1', [contact]);
      await sender.query('COMMIT');
      expect((await deleted).status).to.equal(200);
      expect(await app.eventNames()).to.deep.equal(deletions);
    } finally {
      await sender.end();
    }
  });
});

describe('what tells of a deletion', () => {
  it('reaches the webhooks that ask for it, though what it tells of is gone', async () => {
    const app = await TestApp.start();
    const receiver = await Receiver.start();
    try {
      const subscriptions = ['conversation_created', 'message_created', 'message_deleted', ...deletions];
      const { secret } = (await app.post('webhooks', { url: receiver.url, subscriptions })).body;
      const contact = await addContact(app);
      const conversation = await addConversation(app, await addInbox(app), { contactId: contact });
      const message = await addMessage(app, conversation, 'Hello');
      await app.delete(`conversations/${conversation}/messages/${message}`);
      await receiver.waitFor(3);
      await app.delete(`contacts/${contact}`);
      await receiver.waitFor(5);
      for (const post of receiver.received) verify(secret, post);
      const bodies = receiver.received.map(({ body }) => body);
      expect(bodies.slice(0, 3).map(({ event }) => event)).to.deep.equal([
        'conversation_created',
        'message_created',
        'message_deleted',
      ]);
      expect(bodies.slice(3).map(({ event }) => event)).to.have.members(deletions);
      await app.eventually(
        async () => (await app.query(`SELECT FROM deliveries WHERE state <> 'delivered'`)).length === 0,
      );
    } finally {
      await app.stop();
      await receiver.close();
    }
  });
});
