import { expect } from 'chai';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';
import { verify } from '../support/receiver.ts';
import { BotHouse } from './house.ts';

// The bot does what the message says.
const told = `await (new Function('ctx', 'return (async () => {' + ctx.message.content + '})()'))(ctx);`;
const five = [
  'message_created',
  'message_updated',
  'conversation_opened',
  'conversation_resolved',
  'webwidget_triggered',
];

interface Served {
  id: number;
  secret: string;
  inbox: { id: number; identifier: string };
  headers: { api_access_token: string };
}

describe('forwarding', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let https: HttpsReceiver;
  let proxy: Served;
  let teller: Served;

  before(async () => {
    https = await startHttpsReceiver();
    house = await BotHouse.open(
      {
        told: { on: { message_created: told }, permissions: { conversation: ['reply', 'note'], forward: true } },
        // Asks for nothing.
        bare: { on: { message_created: '' } },
      },
      { shipped: ['webhook-bot'] },
    );
    proxy = await serve({ kind: 'plugin', plugin_id: 'webhook-bot' });
    teller = await serve({ kind: 'plugin', plugin_id: 'told' });
  });
  after(async () => {
    await house.close();
    await https.close();
  });
  afterEach(async () => {
    await house.app.query(`UPDATE deliveries SET state = 'cancelled' WHERE state = 'pending'`);
    https.receiver.received.length = 0;
    https.receiver.answerWith((_, response) => response.end());
  });

  /** A bot with a server, in a widget inbox of its own. */
  async function serve(fields: object): Promise<Served> {
    const { app } = house;
    const { status, body } = await app.post('agent_bots', { name: 'Bot', outgoing_url: https.receiver.url, ...fields });
    expect(status, JSON.stringify(body)).to.equal(201);
    const { body: inbox } = await app.post('inboxes', { name: 'Widget', channel: { type: 'web_widget' } });
    await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: body.id });
    return { id: body.id, secret: body.secret, inbox, headers: { api_access_token: body.access_token } };
  }

  async function converse({ inbox, headers }: Served) {
    const { app } = house;
    const { body: contact } = await app.post('contacts', { name: 'Carla' });
    const { body } = await app.post('conversations', { inbox_id: inbox.id, contact_id: contact.id });
    const path = `conversations/${body.id}`;
    const say = (content: string, rest: object = {}, by = {}) =>
      app.post(`${path}/messages`, { content, message_type: 'outgoing', ...rest }, by);
    return {
      id: body.id as number,
      path,
      hear: (content: string) => say(content, { message_type: 'incoming' }),
      answer: (content: string) => say(content, {}, headers),
      note: (content: string) => say(content, { private: true }),
      to: (status: string) => app.post(`${path}/toggle_status`, { status }),
      record: async () => (await app.get(path)).body,
      runs: () => house.runs(body.id),
    };
  }

  /** Makes what waits in the conversation due at once, once the delivery had so many attempts. */
  async function hurry(id: number, attempt: number): Promise<void> {
    await house.app.eventually(async () => {
      const waiting = await house.app.query(
        `UPDATE deliveries d SET next_attempt_at = now() FROM events e WHERE e.id = d.event_id AND e.conversation_id = $1
           AND d.attempt = $2 AND d.lease_token IS NULL AND d.state = 'pending' RETURNING d.id`,
        [id, attempt],
      );
      return waiting.length > 0;
    });
    await house.app.query(`UPDATE lanes SET due_at = now() WHERE subject_kind = 'conversation' AND subject_id = $1`, [
      id,
    ]);
  }

  async function exhaust(id: number): Promise<void> {
    for (let attempt = 1; attempt < 6; attempt += 1) {
      await https.receiver.waitFor(attempt);
      await hurry(id, attempt);
    }
    await https.receiver.waitFor(6);
  }

  const statesOf = async (id: number): Promise<string[]> => {
    const rows = await house.app.query<{ told: string }>(
      `SELECT e.name || ' ' || d.state AS told FROM deliveries d JOIN events e ON e.id = d.event_id
       WHERE e.conversation_id = $1 AND d.endpoint_kind = 'bot' ORDER BY d.event_id`,
      [id],
    );
    return rows.map(({ told: one }) => one);
  };
  const settled = (id: number, states: string[]) =>
    house.app.eventually(async () => JSON.stringify(await statesOf(id)) === JSON.stringify(states));

  /** Plays everything that bots hear of; what the server got. */
  async function play(served: Served, count: number): Promise<Record<string, unknown>[]> {
    const { app } = house;
    https.receiver.received.length = 0;
    const { hear, answer, note, to, path } = await converse(served);
    const { body: message } = await hear('Hello');
    await answer('Yes?');
    await note('For us');
    await app.patch(`${path}/messages/${message.id}`, { content: 'Hello!' });
    await to('resolved');
    await to('pending');
    await app.post(`/public/api/v1/inboxes/${served.inbox.identifier}/sessions`, { name: 'Visitor' });
    await https.receiver.waitFor(count);
    // What comes too much comes with the next, which ends it.
    await hear('The end');
    await app.eventually(async () => {
      const [waiting] = await app.query<{ count: number }>(
        `SELECT count(*) AS count FROM deliveries WHERE endpoint_kind = 'bot' AND endpoint_id = $1 AND state = 'pending'`,
        [served.id],
      );
      return waiting!.count === 0;
    });
    for (const post of https.receiver.received) verify(served.secret, post);
    return https.receiver.received.map(({ body }) => body).filter(({ content }) => content !== 'The end');
  }

  const ofBody = (body: Record<string, unknown>) => ({
    event: body['event'],
    fields: Object.keys(body).sort(),
    content: body['content'],
    private: body['private'],
    status: body['status'],
    type: body['message_type'],
    sender: (body['sender'] as { type: string } | undefined)?.type,
  });

  for (const [told2, settings, count] of [
    ['everything', {}, 8],
    ['two events', { events: ['conversation_resolved', 'message_created'] }, 4],
    ['no outgoing messages', { hear_own: false }, 7],
    ['customers alone', { events: ['message_created'], hear_own: false }, 2],
  ] as const) {
    it(`by the package tells the server ${told2}, as a webhook bot is told`, async () => {
      const webhook = await serve({ ...settings });
      const plugin = await serve({ kind: 'plugin', plugin_id: 'webhook-bot', config: settings });
      const heard = (await play(webhook, count - 1)).map(ofBody);
      const forwarded = (await play(plugin, count - 1)).map(ofBody);
      const inOrder = (all: typeof heard) => all.map((one) => JSON.stringify(one)).sort();
      expect(inOrder(forwarded)).to.deep.equal(inOrder(heard));
      expect(new Set(heard.map(({ event }) => event as string))).to.deep.equal(
        new Set('events' in settings ? settings.events : five),
      );
    });
  }

  it('keeps the order of the conversation', async () => {
    const { hear } = await converse(proxy);
    for (const content of ['One', 'Two', 'Three']) await hear(content);
    await https.receiver.waitFor(3);
    expect(https.receiver.received.map(({ body }) => body['content'])).to.deep.equal(['One', 'Two', 'Three']);
  });

  it('commits what the bot did, and then tells the server; a run that fails tells it nothing', async () => {
    const { id, hear, record } = await converse(teller);
    await hear(`ctx.reply('A moment'); await ctx.forward(); ctx.note('Asked the server');`);
    await https.receiver.waitFor(1);
    await settled(id, ['message_created delivered']);
    const [run] = await house.runs(id);
    expect(run!.actions.map(({ type }) => type)).to.deep.equal(['reply', 'note']);
    expect(run!.calls.map(({ name }) => name)).to.deep.equal(['forward']);
    expect((await record()).status).to.equal('pending');
    await hear(`await ctx.forward(); throw new Error('x');`);
    await settled(id, ['message_created delivered', 'message_created exhausted']);
    expect(https.receiver.received).to.have.lengthOf(1);
    expect(await record()).to.include({ status: 'open', handoff_reason: 'bot_unreachable' });
    await house.app.post(`agent_bots/${teller.id}/release`);
  });

  it('tries the server again on the schedule of bots, without running the bot again', async () => {
    https.receiver.answerWith((_, response) => response.writeHead(500).end());
    const { id, hear, runs } = await converse(proxy);
    await hear('Hello');
    await https.receiver.waitFor(1);
    const [waiting] = await house.app.eventually(async () => {
      const rows = await house.app.query<{ seconds: number }>(
        `SELECT (extract(epoch FROM d.next_attempt_at - a.created_at))::float8 AS seconds
         FROM deliveries d JOIN events e ON e.id = d.event_id JOIN attempts a ON a.delivery_id = d.id
         WHERE e.conversation_id = $1 AND d.state = 'pending' AND d.failures = 1`,
        [id],
      );
      return rows.length > 0 && rows;
    });
    expect(waiting!.seconds).to.be.within(0.9, 10);
    https.receiver.answerWith((_, response) => response.end());
    await hurry(id, 1);
    await https.receiver.waitFor(2);
    await settled(id, ['message_created delivered']);
    expect(https.receiver.received.map(({ headers }) => headers['webhook-attempt'])).to.deep.equal(['1', '2']);
    expect(new Set(https.receiver.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    expect(await runs()).to.have.lengthOf(1);
  });

  it('gives the conversation to people when a message never arrives, once, with a note', async () => {
    https.receiver.answerWith((_, response) => response.writeHead(503).end());
    const { id, path, hear, record, runs } = await converse(proxy);
    await hear('Is anybody there?');
    await exhaust(id);
    await house.app.eventually(async () => (await record()).status === 'open');
    expect(await record()).to.include({ handoff_reason: 'bot_unreachable' });
    const { body } = await house.app.get(`${path}/messages`);
    expect(body.payload.slice(1)).to.have.lengthOf(1);
    expect(body.payload[1]).to.deep.include({
      private: true,
      content_attributes: {
        handoff: { reason: 'bot_unreachable', last_question: 'Is anybody there?', passages: [] },
      },
    });
    expect(await runs()).to.have.lengthOf(1);
  });

  it('goes on after the process has died between the run and the server', async () => {
    const { app } = house;
    https.receiver.answerWith((_, response) => response.writeHead(500).end());
    const { id, hear, runs } = await converse(proxy);
    await hear('Hello');
    await https.receiver.waitFor(1);
    await app.eventually(async () => app.app.engine.inFlight === 0);
    // As the process leaves it that committed the run and died: claimed, and its lease is over.
    https.receiver.answerWith((_, response) => response.end());
    const token = crypto.randomUUID();
    await app.query(
      `WITH lane AS (UPDATE lanes SET lease_token = $2, due_at = now() WHERE subject_kind = 'conversation'
         AND subject_id = $1 AND endpoint_kind = 'bot' RETURNING id)
       UPDATE deliveries d SET lease_token = $2, failures = 0, next_attempt_at = now() FROM lane WHERE d.lane_id = lane.id`,
      [id, token],
    );
    app.app.engine.poke();
    await https.receiver.waitFor(2);
    await settled(id, ['message_created delivered']);
    expect(await runs()).to.have.lengthOf(1);
  });

  it('is not run for what somebody cancelled', async () => {
    const { app } = house;
    await app.post(`agent_bots/${proxy.id}/pause`);
    const { id, hear, runs } = await converse(proxy);
    await hear('Hello');
    // As it is while the lane is leased: the sweep leaves it to the engine.
    await app.query(
      `INSERT INTO backlog_tasks (account_id, endpoint_kind, endpoint_id, task, through, reason)
       SELECT 1, 'bot', $1, 'cancel', max(id), 'cancelled_on_request' FROM deliveries`,
      [proxy.id],
    );
    await app.post(`agent_bots/${proxy.id}/resume`);
    await settled(id, ['message_created cancelled']);
    expect(await runs()).to.deep.equal([]);
    await app.query('DELETE FROM backlog_tasks');
  });

  it('leaves a bot that answers by itself its customers while its server does not answer', async () => {
    await house.app.query(
      `UPDATE agent_bots SET circuit_trips = 1, circuit_probe_at = now() + interval '1 second' WHERE id = $1`,
      [teller.id],
    );
    const all = await Promise.all([converse(teller), converse(teller), converse(teller)]);
    for (const { hear } of all) await hear(`ctx.reply('By myself')`);
    for (const { id } of all) await settled(id, ['message_created delivered']);
    expect((await house.app.get(`agent_bots/${teller.id}`)).body.circuit.state).not.to.equal('closed');
  });

  it('stops at a server that is gone: people get the conversation at once', async () => {
    https.receiver.answerWith((_, response) => response.writeHead(410).end());
    for (const served of [proxy, await serve({})]) {
      https.receiver.received.length = 0;
      const { id, hear, record } = await converse(served);
      await hear('Hello');
      await house.app.eventually(async () => (await record()).handoff_reason === 'bot_unreachable');
      await settled(id, ['message_created exhausted']);
      expect(https.receiver.received).to.have.lengthOf(1);
    }
  });

  for (const kind of ['webhook', 'plugin'] as const) {
    it(`leaves a ${kind} bot the conversation whose reopening it could not be told, unless its server is gone`, async () => {
      const served = kind === 'webhook' ? await serve({}) : proxy;
      const { id, to, record } = await converse(served);
      await to('resolved');
      await settled(id, ['conversation_resolved delivered']);
      https.receiver.received.length = 0;
      https.receiver.answerWith((_, response) => response.writeHead(503).end());
      await to('pending');
      await exhaust(id);
      await settled(id, ['conversation_resolved delivered', 'conversation_opened exhausted']);
      expect(await record()).to.include({ status: 'pending', handoff_reason: null });
      const gone = await converse(served);
      https.receiver.answerWith((_, response) => response.end());
      await gone.to('resolved');
      await settled(gone.id, ['conversation_resolved delivered']);
      https.receiver.answerWith((_, response) => response.writeHead(410).end());
      await gone.to('pending');
      await settled(gone.id, ['conversation_resolved delivered', 'conversation_opened exhausted']);
      expect(await gone.record()).to.include({ status: 'open', handoff_reason: 'bot_unreachable' });
    });
  }

  it('shows the server in the record of the bot, and changes and secrets as for webhook bots', async () => {
    const { app } = house;
    const path = `agent_bots/${proxy.id}`;
    expect((await app.get(path)).body).to.deep.include({
      kind: 'plugin',
      outgoing_url: https.receiver.url,
      events: five,
      hear_own: true,
    });
    expect((await app.get(path)).body.circuit).to.include({ state: 'closed' });
    expect((await app.get(path)).body).not.to.have.property('secret');
    const reset = await app.post(`${path}/reset_secret`);
    expect(reset.body.secret).to.match(/^whsec_/);
    const { hear } = await converse(proxy);
    await hear('Hello');
    const [post] = await https.receiver.waitFor(1);
    verify(reset.body.secret, post!);
    verify(proxy.secret, post!);
  });

  it('finds a server that is set later; until then it is unavailable', async () => {
    const { app } = house;
    const { body: bot } = await app.post('agent_bots', { name: 'Later', kind: 'plugin', plugin_id: 'told' });
    expect(bot).not.to.have.property('secret');
    expect((await app.post(`agent_bots/${bot.id}/reset_secret`)).status).to.equal(422);
    await app.post(`inboxes/${teller.inbox.id}/set_agent_bot`, { agent_bot: bot.id });
    const code = `try { await ctx.forward(); } catch (error) { ctx.note(error.code); }`;
    const before = await converse(teller);
    await before.hear(code);
    await settled(before.id, ['message_created delivered']);
    expect((await house.runs(before.id))[0]!.actions).to.deep.equal([{ type: 'note', content: 'unavailable' }]);
    expect((await app.patch(`agent_bots/${bot.id}`, { outgoing_url: https.receiver.url })).status).to.equal(200);
    const { body: reset } = await app.post(`agent_bots/${bot.id}/reset_secret`);
    const { hear } = await converse(teller);
    await hear(code);
    const [post] = await https.receiver.waitFor(1);
    verify(reset.secret, post!);
    await app.post(`inboxes/${teller.inbox.id}/set_agent_bot`, { agent_bot: teller.id });
  });

  it('is refused where it is set up, with the field', async () => {
    const { app } = house;
    const plugin = { kind: 'plugin', plugin_id: 'webhook-bot' };
    const url = https.receiver.url;
    for (const [body, path] of [
      [{ outgoing_url: 'http://example.com/bot' }, '/outgoing_url'],
      [{ outgoing_url: 'https://10.0.0.1/bot' }, '/outgoing_url'],
      [{ outgoing_url: url, events: [] }, '/events'],
      [{ outgoing_url: url, events: ['schedule'] }, '/events/0'],
      [{ outgoing_url: url, events: ['message_created', 'message_created'] }, '/events'],
      [{ outgoing_url: url, events: 'message_created' }, '/events'],
      [{ outgoing_url: url, hear_own: 'no' }, '/hear_own'],
      [{ ...plugin, outgoing_url: 'http://example.com/bot' }, '/outgoing_url'],
      [{ ...plugin, outgoing_url: url, events: ['message_created'] }, '/events'],
      [{ ...plugin, outgoing_url: url, hear_own: true }, '/hear_own'],
      [{ ...plugin, outgoing_url: url, config: { events: ['schedule'] } }, '/config/events/0'],
      [{ kind: 'plugin', plugin_id: 'bare', outgoing_url: url }, '/outgoing_url'],
    ] as const) {
      const told2 = JSON.stringify(body);
      const created = await app.post('agent_bots', { name: 'Bad', ...body });
      expect([created.status, created.body.details?.[0].path], told2).to.deep.equal([422, path]);
    }
    const { body: bot } = await app.post('agent_bots', { name: 'Good', outgoing_url: url, hear_own: false });
    expect(bot).to.deep.include({ events: five, hear_own: false });
    const patched = await app.patch(`agent_bots/${bot.id}`, { events: ['message_created'], hear_own: true });
    expect(patched.body).to.deep.include({ events: ['message_created'], hear_own: true });
    for (const [body, path] of [
      [{ events: [] }, '/events'],
      [{ events: ['message_deleted'] }, '/events/0'],
      [{ hear_own: null }, '/hear_own'],
    ] as const) {
      const { status, body: refused } = await app.patch(`agent_bots/${bot.id}`, body);
      expect([status, refused.details?.[0].path]).to.deep.equal([422, path]);
    }
    expect((await app.patch(`agent_bots/${proxy.id}`, { events: ['message_created'] })).status).to.equal(422);
    expect((await app.patch(`agent_bots/${house.botOf('bare')}`, { outgoing_url: url })).status).to.equal(422);
    expect((await app.get(`agent_bots/${bot.id}`)).body).to.deep.include({ events: ['message_created'] });
  });
});
