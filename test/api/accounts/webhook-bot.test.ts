import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../../support/https-receiver.ts';
import { addPerson, type Person } from '../../support/people.ts';
import { verify } from '../../support/receiver.ts';

const settleMs = 400;

describe('a webhook bot', () => {
  let app: TestApp;
  let https: HttpsReceiver;
  let human: Person;
  let bot: { id: number; secret: string; headers: { api_access_token: string } };
  let inboxId: number;

  before(async () => {
    app = await TestApp.start();
    https = await startHttpsReceiver();
    human = await addPerson(app, { name: 'Hanna' });
    const { body } = await app.post('agent_bots', { name: 'Robbi', outgoing_url: https.receiver.url });
    bot = { id: body.id, secret: body.secret, headers: { api_access_token: body.access_token } };
    inboxId = (await app.post('inboxes', { name: 'With a bot' })).body.id;
    await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: bot.id });
    await app.post(`inboxes/${inboxId}/members`, { user_ids: [human.id] });
  });

  after(async () => {
    await app.stop();
    await https.close();
  });

  // What a test left to be delivered is its own, and not the next one's.
  afterEach(async () => {
    await app.query(`UPDATE deliveries SET state = 'cancelled' WHERE state = 'pending'`);
    await app.eventually(async () => app.app.engine.inFlight === 0);
    await nothingMoreComes();
    https.receiver.received.length = 0;
    https.receiver.answerWith((_, response) => response.end());
  });

  const nothingMoreComes = () => new Promise((resolve) => setTimeout(resolve, settleMs));
  const heard = () => https.receiver.received.map(({ body }) => [body['event'], body['content'] ?? body['status']]);

  async function converse() {
    const { body: contact } = await app.post('contacts', {
      name: 'Carla',
      email: 'carla@example.com',
      phone_number: '+14155552671',
    });
    const { body } = await app.post('conversations', { inbox_id: inboxId, contact_id: contact.id });
    await app.events();
    const path = `conversations/${body.id}`;
    const say = (content: string, headers = {}, rest: object = {}) =>
      app.post(`${path}/messages`, { content, message_type: 'outgoing', ...rest }, headers);
    return {
      id: body.id as number,
      contact,
      path,
      say,
      hear: (content: string) => say(content, {}, { message_type: 'incoming' }),
      answer: (content: string, rest: object = {}) => say(content, bot.headers, rest),
      to: (status: string, headers = {}) => app.post(`${path}/toggle_status`, { status }, headers),
      assign: (assigneeId: number | null) => app.post(`${path}/assignments`, { assignee_id: assigneeId }),
      explanation: async () => (await app.get(`${path}/agent_bot`)).body,
    };
  }

  it('hears the customer as the contract says, and answers by REST', async () => {
    const { id, contact, hear, answer, path } = await converse();
    const { body: message } = await hear('Is anybody there?');
    const [post] = await https.receiver.waitFor(1);
    verify(bot.secret, post!);
    expect(post!.headers['webhook-attempt']).to.equal('1');
    expect(post!.body).to.deep.equal({
      event: 'message_created',
      id: message.id,
      content: 'Is anybody there?',
      content_type: 'text',
      message_type: 'incoming',
      created_at: message.created_at,
      private: false,
      source_id: null,
      additional_attributes: {},
      content_attributes: {},
      sender: {
        id: contact.id,
        name: 'Carla',
        email: 'carla@example.com',
        phone_number: '+14155552671',
        avatar: null,
        identifier: null,
        type: 'contact',
      },
      inbox: { id: inboxId, name: 'With a bot', channel: 'Channel::Api' },
      conversation: {
        id,
        account_id: 1,
        status: 'pending',
        assignee: null,
        meta: { sender: { id: contact.id, name: 'Carla', type: 'contact' }, channel: 'Channel::Api' },
      },
      account: { id: 1, name: 'Demo account' },
      sequence: 2,
    });
    const reply = await answer('I am.');
    expect(reply.status).to.equal(201);
    expect(reply.body.sender).to.deep.equal({ id: bot.id, name: 'Robbi', type: 'AgentBot' });
    const [, own] = await https.receiver.waitFor(2);
    expect(own!.body).to.deep.include({
      event: 'message_created',
      message_type: 'outgoing',
      content: 'I am.',
      sequence: 3,
    });
    expect(own!.body['sender']).to.include({ id: bot.id, name: 'Robbi', type: 'agent_bot' });
    expect((await app.get(path)).body.status).to.equal('pending');
    expect(await app.eventNames()).to.deep.equal(['message_created', 'message_created']);
  });

  it('hears under its old secret too, for a day after it was reset', async () => {
    const { hear } = await converse();
    const old = bot.secret;
    const reset = await app.post(`agent_bots/${bot.id}/reset_secret`);
    bot.secret = reset.body.secret;
    expect(bot.secret).not.to.equal(old);
    await hear('Both');
    const [both] = await https.receiver.waitFor(1);
    verify(bot.secret, both!);
    verify(old, both!);
    const [expiry] = await app.query<{ hours: number }>(
      `SELECT (extract(epoch FROM (older_secrets->0->>'endsAt')::timestamptz - now()) / 3600)::float8 AS hours FROM agent_bots WHERE id = $1`,
      [bot.id],
    );
    expect(expiry!.hours).to.be.within(23.9, 24.001);
    await app.query(
      `UPDATE agent_bots SET older_secrets = jsonb_set(older_secrets, '{0,endsAt}', to_jsonb(now())) WHERE id = $1`,
      [bot.id],
    );
    await hear('One');
    const [, one] = await https.receiver.waitFor(2);
    verify(bot.secret, one!);
    expect(() => verify(old, one!)).to.throw(/matching signature/i);
  });

  it('has ten secrets at most', async () => {
    const { body: other } = await app.post('agent_bots', { name: 'Rotated', outgoing_url: https.receiver.url });
    for (let count = 2; count <= 10; count++)
      expect((await app.post(`agent_bots/${other.id}/reset_secret`)).status).to.equal(200);
    const refused = await app.post(`agent_bots/${other.id}/reset_secret`);
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'too_many_secrets']);
  });

  it('is silent while a person has the conversation, though told when it ends and begins again', async () => {
    const { id, contact, hear, answer, to, assign } = await converse();
    await hear('One');
    await https.receiver.waitFor(1);
    await assign(human.id);
    await app.events();
    const refused = await answer('Two');
    expect(refused.status).to.equal(403);
    expect(refused.body.code).to.equal('bot_suppressed');
    expect(await app.eventNames()).to.deep.equal([]);
    expect((await answer('A note', { private: true })).status).to.equal(201);
    await hear('Three');
    await to('resolved');
    await to('open');
    await https.receiver.waitFor(3);
    await nothingMoreComes();
    expect(heard()).to.deep.equal([
      ['message_created', 'One'],
      ['conversation_resolved', 'resolved'],
      ['conversation_opened', 'open'],
    ]);
    const { sequence, ...resolved } = https.receiver.received[1]!.body;
    expect(sequence).to.be.a('number');
    expect(resolved).to.deep.equal({
      event: 'conversation_resolved',
      id,
      status: 'resolved',
      account_id: 1,
      inbox_id: inboxId,
      meta: { sender: { id: contact.id, name: 'Carla', type: 'contact' }, channel: 'Channel::Api' },
      account: { id: 1, name: 'Demo account' },
    });
    verify(bot.secret, https.receiver.received[2]!);
    expect(await app.eventNames()).to.deep.equal([
      'message_created',
      'message_created',
      'conversation_status_changed',
      'conversation_resolved',
      'conversation_status_changed',
      'conversation_opened',
    ]);
    await assign(null);
    await hear('Four');
    await https.receiver.waitFor(4);
    expect(heard()[3]).to.deep.equal(['message_created', 'Four']);
    expect((await answer('Five')).status).to.equal(201);
    await https.receiver.waitFor(5);
  });

  it('is not told again what waits for a retry when a person takes over meanwhile', async () => {
    const { id, hear, assign } = await converse();
    https.receiver.answerWith((_, response) => response.writeHead(500).end());
    await hear('Hello');
    await https.receiver.waitFor(1);
    await assign(human.id);
    const [delivery] = await app.eventually(async () => {
      const rows = await app.query<{ state: string; last_error: string }>(
        `SELECT d.state, d.last_error FROM deliveries d JOIN events e ON e.id = d.event_id
         WHERE e.conversation_id = $1 AND d.endpoint_kind = 'bot' AND d.state <> 'pending'`,
        [id],
      );
      return rows.length > 0 && rows;
    });
    expect(delivery).to.deep.equal({ state: 'cancelled', last_error: 'human_assigned' });
    expect(https.receiver.received).to.have.lengthOf(1);
  });

  it('that cannot be reached gives the conversation to people, with a note', async () => {
    const { id, path, hear, answer, explanation } = await converse();
    https.receiver.answerWith((_, response) => response.writeHead(503).end());
    await hear('Hello');
    for (let attempt = 1; attempt <= 6; attempt++) {
      await https.receiver.waitFor(attempt);
      if (attempt === 6) break;
      await app.eventually(async () => {
        const waiting = await app.query(
          `UPDATE deliveries d SET next_attempt_at = now() FROM events e
           WHERE e.id = d.event_id AND e.conversation_id = $1 AND d.attempt = $2 AND d.lease_token IS NULL
             AND d.state = 'pending' RETURNING d.id`,
          [id, attempt],
        );
        return waiting.length > 0;
      });
      await app.query(`UPDATE lanes SET due_at = now() WHERE subject_kind = 'conversation' AND subject_id = $1`, [id]);
    }
    await app.eventually(async () => (await app.get(path)).body.status === 'open');
    expect(await app.eventNames()).to.deep.equal(['message_created', 'conversation_status_changed', 'message_created']);
    const { body } = await app.get(`${path}/messages`);
    expect(body.payload).to.have.lengthOf(2);
    expect(body.payload[1]).to.deep.include({ private: true, message_type: 'outgoing', sender: null });
    expect(body.payload[1].content).to.match(/could not be reached.*take over/i);
    expect(await explanation()).to.include({ answers: false, reason: 'bot_failed' });
    expect((await answer('Late')).body.code).to.equal('bot_suppressed');
    const [attempts] = await app.query<{ count: number }>(
      `SELECT count(*) AS count FROM attempts a JOIN deliveries d ON d.id = a.delivery_id JOIN events e ON e.id = d.event_id
       WHERE e.conversation_id = $1`,
      [id],
    );
    expect(attempts!.count).to.equal(6);
  });

  it('that is gone gives the conversation to people at once', async () => {
    const { path, hear, explanation } = await converse();
    https.receiver.answerWith((_, response) => response.writeHead(410).end());
    await hear('Hello');
    await app.eventually(async () => (await app.get(path)).body.status === 'open');
    expect(await explanation()).to.include({ reason: 'bot_failed' });
    expect(https.receiver.received).to.have.lengthOf(1);
  });

  it('that has answered another process keeps the conversation, whatever a stalled one heard', async () => {
    const { id, path, hear, explanation } = await converse();
    const late = Promise.withResolvers<void>();
    // As another process leaves it that took the delivery over and made it.
    const takeOver = () =>
      app.query(
        `WITH lane AS (UPDATE lanes SET lease_token = NULL, due_at = NULL
           WHERE endpoint_kind = 'bot' AND subject_kind = 'conversation' AND subject_id = $1 RETURNING id)
         UPDATE deliveries d SET state = 'delivered', lease_token = NULL, finished_at = now() FROM lane
         WHERE d.lane_id = lane.id`,
        [id],
      );
    https.receiver.answerWith((_, response) => {
      const answerLate = async () => {
        await takeOver();
        response.writeHead(410).end();
        late.resolve();
      };
      void answerLate();
    });
    await hear('Hello');
    await late.promise;
    await app.eventually(async () => app.app.engine.inFlight === 0);
    expect(await explanation()).to.include({ answers: true, reason: null });
    expect((await app.get(path)).body.status).to.equal('pending');
    expect((await app.get(`${path}/messages`)).body.payload).to.have.lengthOf(1);
  });

  it('that talks in a loop is stopped, and people are told', async () => {
    const { path, hear, answer, explanation } = await converse();
    await hear('Hello');
    for (let count = 1; count <= 10; count++) expect((await answer(`Message ${count}`)).status).to.equal(201);
    await app.events();
    const both = await Promise.all([answer('One too many'), answer('Two too many')]);
    expect(both.map(({ status }) => status)).to.deep.equal([403, 403]);
    expect(both.map(({ body }) => body.code)).to.include('loop_suspected');
    expect(await app.eventNames()).to.deep.equal(['conversation_status_changed', 'message_created']);
    expect((await app.get(path)).body.status).to.equal('open');
    expect(await explanation()).to.include({ answers: false, reason: 'loop_suspected' });
    const { body } = await app.get(`${path}/messages`);
    const notes = body.payload.filter((message: { private: boolean }) => message.private);
    expect(notes).to.have.lengthOf(1);
    expect(notes[0].content).to.match(/Robbi seems to be in a loop/);
    expect((await answer('Still here')).body.code).to.equal('bot_suppressed');
    await hear('Anybody?');
    await nothingMoreComes();
    expect(heard().filter(([, content]) => content === 'Anybody?')).to.deep.equal([]);
  });

  it('that talks on without a word of the customer is stopped, with an Idempotency-Key too', async () => {
    const { id, hear, path, explanation } = await converse();
    const answer = (content: string) =>
      app.post(
        `${path}/messages`,
        { content, message_type: 'outgoing' },
        { ...bot.headers, 'idempotency-key': `${id} ${content}` },
      );
    await hear('Hello');
    for (let count = 1; count <= 20; count++) {
      expect((await answer(`Message ${count}`)).status).to.equal(201);
      await app.query(`UPDATE messages SET created_at = created_at - interval '2 minutes' WHERE conversation_id = $1`, [
        id,
      ]);
    }
    const refused = await answer('Message 21');
    expect(refused).to.include({ status: 403 });
    expect(refused.body.code).to.equal('loop_suspected');
    expect(await explanation()).to.include({ reason: 'loop_suspected' });
  });

  it('may work on what it serves, and on nothing else', async () => {
    const served = await converse();
    const other = (await app.post('inboxes', { name: 'Without' })).body.id;
    const { body: foreign } = await app.post('conversations', { inbox_id: other, contact_id: served.contact.id });
    const by = bot.headers;
    const list = await app.get('conversations', by);
    const ids = list.body.data.payload.map((one: { id: number }) => one.id);
    expect(ids).to.include(served.id).and.not.include(foreign.id);
    expect((await app.get(served.path, by)).status).to.equal(200);
    expect((await app.get(`${served.path}/messages`, by)).status).to.equal(200);
    expect((await served.to('open', by)).status).to.equal(200);
    expect((await served.explanation()).reason).to.equal('handed_off');
    expect((await app.patch(served.path, { priority: 'high' }, by)).status).to.equal(200);
    expect((await app.post(`${served.path}/labels`, { labels: [] }, by)).status).to.equal(200);
    // What it has handed off is the people's to assign; what it serves it may give to one of them.
    const late = await app.post(`${served.path}/assignments`, { assignee_id: human.id }, by);
    expect([late.status, late.body.code]).to.deep.equal([403, 'bot_suppressed']);
    const { path: own } = await converse();
    expect((await app.post(`${own}/assignments`, { assignee_id: human.id }, by)).status).to.equal(200);
    expect((await app.get(`contacts/${served.contact.id}`, by)).status).to.equal(200);
    const { body: unknown } = await app.post('contacts', { name: 'Nobody' });
    const refused: [string, string, object?][] = [
      ['GET', `conversations/${foreign.id}`],
      ['GET', `conversations/${foreign.id}/messages`],
      ['POST', `conversations/${foreign.id}/messages`, { content: 'x', message_type: 'outgoing' }],
      ['POST', `${served.path}/messages`, { content: 'x', message_type: 'incoming' }],
      ['POST', 'conversations', { inbox_id: inboxId, contact_id: served.contact.id }],
      ['GET', `contacts/${unknown.id}`],
      ['GET', 'contacts'],
      ['PATCH', `contacts/${served.contact.id}`, { name: 'x' }],
      ['GET', 'inboxes'],
      ['GET', `inboxes/${inboxId}`],
      ['GET', 'agents'],
      ['GET', 'teams'],
      ['GET', 'agent_bots'],
      ['GET', 'webhooks'],
      ['GET', '/api/v1/profile'],
    ];
    for (const [method, path, body] of refused) {
      expect((await app.call(method, path, body, by)).status, `${method} ${path}`).to.equal(403);
    }
  });

  it('that is deleted is told nothing more', async () => {
    const { body } = await app.post('agent_bots', { name: 'Brief', outgoing_url: https.receiver.url });
    const conversation = await converse();
    await app.post(`${conversation.path}/agent_bot`, { agent_bot_id: body.id });
    https.receiver.answerWith((_, response) => response.writeHead(500).end());
    await conversation.hear('Hello');
    await https.receiver.waitFor(1);
    expect((await app.delete(`agent_bots/${body.id}`)).status).to.equal(200);
    // An attempt that is under way at this moment is ended by the engine, which finds the bot gone.
    await app.eventually(async () => {
      const states = await app.query<{ state: string }>(
        `SELECT DISTINCT state FROM deliveries WHERE endpoint_kind = 'bot' AND endpoint_id = $1`,
        [body.id],
      );
      return states.map(({ state }) => state).join() === 'cancelled';
    });
    expect((await conversation.explanation()).agent_bot.id).to.equal(bot.id);
  });
});
