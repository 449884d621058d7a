import { expect } from 'chai';
import { checkSla } from '../../../src/domain/conversations/deadlines/breaches.ts';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, botHeaders, type User } from '../../support/people.ts';
import { statuses } from '../../support/statuses.ts';

describe('SLA policies', () => {
  let app: TestApp;
  let ada: User;
  let inboxId: number;
  let contactId: number;
  let ahead = 0;
  let names = 0;
  const clock = { now: () => new Date(Date.now() + ahead * 1000) };

  before(async () => {
    app = await TestApp.start({ engine: false, clock });
    ada = await addPerson(app, { name: 'Ada' });
    inboxId = (await app.get('inboxes')).body.payload[0].id;
    contactId = (await app.post('contacts', { name: 'Customer' })).body.id;
  });

  beforeEach(async () => {
    await app.events();
    // What other tests left owed is not looked at.
    await app.query('UPDATE conversations SET first_response_due_at = NULL, resolution_due_at = NULL');
  });

  after(() => app.stop());

  const create = (body: object) => app.post('sla_policies', { name: `Policy ${++names}`, ...body });

  async function createConversation(policy?: object, inbox = inboxId): Promise<{ id: number; policyId: number }> {
    const { body } = await app.post('conversations', { inbox_id: inbox, contact_id: contactId });
    const policyId = policy ? (await create(policy)).body.id : 0;
    if (policyId) await app.patch(`conversations/${body.id}`, { sla_policy_id: policyId });
    await app.events();
    return { id: body.id, policyId };
  }

  const reply = (id: number, body: object = {}, headers?: Record<string, string>) =>
    app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'outgoing', ...body }, headers);
  const check = () => checkSla(app.app.database);

  async function due(id: number): Promise<{ first: number | null; resolution: number | null }> {
    const [row] = await app.query<{ first: number | null; resolution: number | null }>(
      `SELECT extract(epoch FROM first_response_due_at - created_at)::int AS first,
         extract(epoch FROM resolution_due_at - created_at)::int AS resolution FROM conversations WHERE id = $1`,
      [id],
    );
    return row!;
  }

  it('a policy is created, read and listed by name', async () => {
    const { status, body } = await app.post('sla_policies', { name: 'Gold', first_response_seconds: 60 });
    expect(status).to.equal(201);
    expect(body).to.include({ account_id: 1, name: 'Gold', first_response_seconds: 60, resolution_seconds: null });
    await app.post('sla_policies', { name: 'Bronze', resolution_seconds: 3600 });
    expect((await app.get(`sla_policies/${body.id}`, ada.headers)).body).to.deep.equal(body);
    const list = await app.get('sla_policies', ada.headers);
    expect(list.body.payload.map((policy: { name: string }) => policy.name)).to.deep.equal(['Bronze', 'Gold']);
    expect(list.body.meta).to.deep.equal({ count: 2, current_page: 1, total_pages: 1 });
    expect((await app.get('sla_policies/999999')).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  for (const [path, body] of [
    ['/name', { first_response_seconds: 1 }],
    ['', { name: 'Nothing' }],
    ['', { name: 'Nothing', first_response_seconds: null, resolution_seconds: null }],
    ['/first_response_seconds', { name: 'Zero', first_response_seconds: 0 }],
    ['/first_response_seconds', { name: 'Half', first_response_seconds: 1.5 }],
    ['/resolution_seconds', { name: 'Ages', resolution_seconds: 31_536_001 }],
    ['/resolution_seconds', { name: 'Text', resolution_seconds: '60' }],
  ] as const) {
    it(`${JSON.stringify(body)} makes no policy`, async () => {
      const answer = await app.post('sla_policies', body);
      expect(answer.status).to.equal(422);
      expect(answer.body.details[0].path).to.equal(path);
    });
  }

  it('a name is unique: of many who come at once, one wins', async () => {
    const body = { name: 'Once', resolution_seconds: 60 };
    const answers = await Promise.all(Array.from({ length: 5 }, () => app.post('sla_policies', body)));
    expect(statuses(answers)).to.deep.equal([201, 422, 422, 422, 422]);
    const other = await create({ resolution_seconds: 60 });
    const renamed = await app.patch(`sla_policies/${other.body.id}`, { name: 'Once' });
    expect(renamed.body.details[0]).to.include({ path: '/name', rule: 'unique' });
  });

  it('a change keeps at least one promise, and counts from then on', async () => {
    const { id, policyId } = await createConversation({ first_response_seconds: 60, resolution_seconds: 600 });
    const { status, body } = await app.patch(`sla_policies/${policyId}`, { first_response_seconds: null });
    expect(status).to.equal(200);
    expect(body).to.include({ first_response_seconds: null, resolution_seconds: 600 });
    const empty = await app.patch(`sla_policies/${policyId}`, { resolution_seconds: null });
    expect(empty.status).to.equal(422);
    expect(empty.body.details[0].rule).to.equal('promise');
    expect(await due(id)).to.deep.equal({ first: 60, resolution: 600 });
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('only administrators write, bots do not read, and other accounts see nothing', async () => {
    const { body } = await create({ resolution_seconds: 60 });
    for (const [method, path] of [
      ['POST', ''],
      ['PATCH', `/${body.id}`],
      ['DELETE', `/${body.id}`],
    ]) {
      const answer = await app.call(method!, `sla_policies${path}`, { name: 'x', resolution_seconds: 1 }, ada.headers);
      expect(answer.status).to.equal(403);
    }
    expect((await app.get('sla_policies', await botHeaders(app))).status).to.equal(403);
    const other = await addAccount(app, 'Other');
    const theirs = `/api/v1/accounts/${other.id}/sla_policies`;
    const { headers } = other.administrator;
    expect((await app.get(theirs, headers)).body.payload).to.deep.equal([]);
    expect((await app.patch(`${theirs}/${body.id}`, { name: 'Mine' }, headers)).status).to.equal(404);
    expect((await app.delete(`${theirs}/${body.id}`, headers)).status).to.equal(404);
  });

  it('a conversation that gets a policy owes what it promises, from its own beginning', async () => {
    const { id, policyId } = await createConversation({ first_response_seconds: 60, resolution_seconds: 600 });
    expect(await due(id)).to.deep.equal({ first: 60, resolution: 600 });
    const cleared = await app.patch(`conversations/${id}`, { sla_policy_id: null });
    expect(cleared.body.sla_policy_id).to.equal(null);
    expect(await due(id)).to.deep.equal({ first: null, resolution: null });
    await app.patch(`conversations/${id}`, { sla_policy_id: policyId });
    expect(await app.eventNames()).to.deep.equal(['conversation_updated', 'conversation_updated']);
    expect((await app.patch(`conversations/${id}`, { sla_policy_id: 999_999 })).status).to.equal(404);
  });

  it('the first public reply settles the first response; a note and the customer do not', async () => {
    const { id } = await createConversation({ first_response_seconds: 60, resolution_seconds: 600 });
    await reply(id, { private: true });
    await reply(id, { message_type: 'incoming' });
    expect((await due(id)).first).to.equal(60);
    await reply(id);
    expect(await due(id)).to.deep.equal({ first: null, resolution: 600 });
  });

  it('the inbox’s own greeting settles nothing, be the policy given before it or after', async () => {
    const greeting = { name: 'Greets', greeting_enabled: true, greeting_message: 'Hello, we will answer soon' };
    const { body: inbox } = await app.post('inboxes', greeting);
    const { id, policyId } = await createConversation({ first_response_seconds: 60 }, inbox.id);
    await reply(id, { message_type: 'incoming' });
    expect((await app.get(`conversations/${id}/messages`)).body.payload).to.have.lengthOf(2);
    expect((await due(id)).first).to.equal(60);
    await app.patch(`conversations/${id}`, { sla_policy_id: null });
    await app.patch(`conversations/${id}`, { sla_policy_id: policyId });
    expect((await due(id)).first).to.equal(60);
  });

  it('a note written before the policy came settles nothing', async () => {
    const { id } = await createConversation();
    await reply(id, { private: true });
    const { body: policy } = await create({ first_response_seconds: 60 });
    await app.patch(`conversations/${id}`, { sla_policy_id: policy.id });
    expect((await due(id)).first).to.equal(60);
  });

  it('the reply of a bot settles the first response too', async () => {
    const { id } = await createConversation({ first_response_seconds: 60 });
    expect((await reply(id, {}, await botHeaders(app))).status).to.equal(201);
    expect((await due(id)).first).to.equal(null);
  });

  it('a conversation that was answered or resolved before owes nothing of the kind', async () => {
    const { id } = await createConversation();
    await reply(id);
    const { body: policy } = await create({ first_response_seconds: 60, resolution_seconds: 600 });
    await app.patch(`conversations/${id}`, { sla_policy_id: policy.id });
    expect(await due(id)).to.deep.equal({ first: null, resolution: 600 });
    const { id: resolved } = await createConversation();
    await app.post(`conversations/${resolved}/toggle_status`, { status: 'resolved' });
    await app.patch(`conversations/${resolved}`, { sla_policy_id: policy.id });
    expect(await due(resolved)).to.deep.equal({ first: null, resolution: null });
  });

  it('resolving settles both', async () => {
    const { id } = await createConversation({ first_response_seconds: 60, resolution_seconds: 600 });
    await app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
    expect(await due(id)).to.deep.equal({ first: null, resolution: null });
  });

  it('each promise not kept is told once, and the conversation labelled', async () => {
    const { id, policyId } = await createConversation({ first_response_seconds: 60, resolution_seconds: 600 });
    expect(await check()).to.equal(0);
    ahead += 61;
    expect(await check()).to.equal(1);
    const events = await app.events();
    expect(events.map(({ name }) => name)).to.deep.equal(['sla_breached', 'conversation_updated']);
    const { created_at: createdAt } = events[0]!.account_payload as { created_at: number };
    expect(events[0]!.account_payload).to.deep.include({
      event: 'sla_breached',
      id,
      which: 'first_response',
      sla_policy: { id: policyId, name: `Policy ${names}` },
      account: { id: 1, name: 'Demo account' },
    });
    expect(events[0]!.account_payload!.due_at).to.be.within(createdAt + 60, createdAt + 61);
    expect(events[1]!.account_payload!.changed_attributes).to.deep.equal({
      labels: { previous: [], current: ['sla-breached'] },
    });
    expect(events[1]!.sequence).to.equal(events[0]!.sequence! + 1);
    expect((await app.get(`conversations/${id}`)).body.labels).to.deep.equal(['sla-breached']);
    expect(await check()).to.equal(0);

    ahead += 600;
    expect(await check()).to.equal(1);
    const later = await app.events();
    expect(later.map(({ name }) => name)).to.deep.equal(['sla_breached']);
    expect(later[0]!.account_payload!.which).to.equal('resolution');
    expect(await check()).to.equal(0);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('a reply that comes too late, and before the alarm, is told all the same', async () => {
    const { id } = await createConversation({ first_response_seconds: 60, resolution_seconds: 70 });
    ahead += 71;
    await reply(id);
    await app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
    await app.events();
    expect(await check()).to.equal(2);
    expect(await app.eventNames()).to.deep.equal(['sla_breached', 'conversation_updated', 'sla_breached']);
  });

  it('two alarms at once tell it once', async () => {
    await createConversation({ first_response_seconds: 60 });
    ahead += 61;
    const counts = await Promise.all([check(), check(), check()]);
    expect(counts.reduce((sum, count) => sum + count)).to.equal(1);
    expect(await app.eventNames()).to.deep.equal(['sla_breached', 'conversation_updated']);
  });

  it('only webhooks that ask for it hear of it', async () => {
    const url = 'http://127.0.0.1:9/hook';
    const hears = await app.post('webhooks', { url, subscriptions: ['sla_breached'] });
    const other = await app.post('webhooks', { url, subscriptions: ['conversation_created'] });
    await createConversation({ first_response_seconds: 60 });
    ahead += 61;
    await check();
    const rows = await app.query(
      `SELECT d.endpoint_id FROM deliveries d JOIN events e ON e.id = d.event_id WHERE e.name = 'sla_breached'`,
    );
    expect(rows).to.deep.equal([{ endpoint_id: hears.body.id }]);
    for (const { body } of [hears, other]) await app.delete(`webhooks/${body.id}`);
  });

  it('a deleted policy leaves its conversations, each of which says so once and owes nothing', async () => {
    const { id, policyId } = await createConversation({ first_response_seconds: 60, resolution_seconds: 600 });
    expect(await app.delete(`sla_policies/${policyId}`)).to.deep.include({ status: 200, body: {} });
    const events = await app.events();
    expect(events.map(({ name, conversation_id: conversation }) => [name, conversation])).to.deep.equal([
      ['conversation_updated', id],
    ]);
    expect(events[0]!.account_payload!.changed_attributes).to.deep.equal({
      sla_policy_id: { previous: policyId, current: null },
    });
    expect(await due(id)).to.deep.equal({ first: null, resolution: null });
    expect((await app.delete(`sla_policies/${policyId}`)).status).to.equal(404);
    ahead += 601;
    expect(await check()).to.equal(0);
  });

  it('an account without room for one more label is told of the breach', async () => {
    const other = await addAccount(app, 'Full');
    const { headers } = other.administrator;
    const at = (path: string) => `/api/v1/accounts/${other.id}/${path}`;
    await app.query(
      `INSERT INTO labels (account_id, title) SELECT $1, 'filler_' || n FROM generate_series(1, 1000) AS n`,
      [other.id],
    );
    const [inbox] = await app.query<{ id: number }>(
      `INSERT INTO inboxes (account_id, name, channel_type, identifier) VALUES ($1, 'Full', 'Channel::Api', 'full') RETURNING id`,
      [other.id],
    );
    const { body: contact } = await app.post(at('contacts'), { name: 'Customer' }, headers);
    const { body: conversation } = await app.post(
      at('conversations'),
      { inbox_id: inbox!.id, contact_id: contact.id },
      headers,
    );
    const { body: policy } = await app.post(at('sla_policies'), { name: 'Gold', resolution_seconds: 1 }, headers);
    await app.patch(at(`conversations/${conversation.id}`), { sla_policy_id: policy.id }, headers);
    await app.events();
    ahead += 2;
    expect(await check()).to.equal(1);
    expect(await app.eventNames()).to.deep.equal(['sla_breached']);
  });
});

describe('SLA policies by the clock', function () {
  this.timeout(60_000);

  it('a breach is told by the alarm, though nobody does anything', async () => {
    const app = await TestApp.start();
    try {
      // The alarm rings at the start, which is to see nothing of what follows.
      const rung = `SELECT FROM agenda_jobs WHERE name = 'do-what-is-due' AND last_finished_at IS NOT NULL`;
      await app.eventually(async () => (await app.query(rung)).length > 0);
      const inboxId = (await app.get('inboxes')).body.payload[0].id;
      const { body: contact } = await app.post('contacts', { name: 'Customer' });
      const { body } = await app.post('conversations', { inbox_id: inboxId, contact_id: contact.id });
      const { body: policy } = await app.post('sla_policies', { name: 'Fast', first_response_seconds: 1 });
      await app.patch(`conversations/${body.id}`, { sla_policy_id: policy.id });
      await app.eventually(async () => (await app.eventNames()).includes('sla_breached'));
    } finally {
      await app.stop();
    }
  });
});
