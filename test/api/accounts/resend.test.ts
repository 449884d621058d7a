import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { eventsFor } from '../../../src/events/sample-body.ts';
import { payloadSchema } from '../../../src/events/catalog.ts';
import { assertShape } from '../../../src/schemas.ts';
import { TestApp } from '../../support/app.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../../support/https-receiver.ts';
import { Receiver, verify, type Received } from '../../support/receiver.ts';

// oxlint-disable-next-line typescript/no-explicit-any
type Record = any;

// An engine begins within a few milliseconds of the commit.
const longEnoughMs = 400;
const pause = () => new Promise((resolve) => setTimeout(resolve, longEnoughMs));

describe('deliveries on request', () => {
  let app: TestApp;
  let secure: HttpsReceiver;
  let receiver: Receiver;
  let inbox: number;
  const receivers: Receiver[] = [];

  before(async function () {
    this.timeout(60_000);
    secure = await startHttpsReceiver();
    app = await TestApp.start();
    inbox = (await app.post('inboxes', { name: 'Deliveries' })).body.id;
  });

  beforeEach(async () => {
    receiver = await Receiver.start();
    receivers.push(receiver);
  });

  afterEach(async () => {
    // Webhooks of earlier tests would fail for the later ones.
    for (const { id } of (await app.get('webhooks')).body.payload) await app.delete(`webhooks/${id}`);
  });

  after(async () => {
    await app.stop();
    for (const one of receivers) await one.close();
    await secure.close();
  });

  async function made(path: string, body: object, status = 201): Promise<Record> {
    const answer = await app.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
    return answer.body;
  }

  const webhookFor = (subscriptions: string[]) => made('webhooks', { url: receiver.url, subscriptions });
  const conversation = async () =>
    (await made('conversations', { inbox_id: inbox, contact_id: (await made('contacts', { name: 'Ada' })).id })).id;
  const say = (id: number, content: string) =>
    made(`conversations/${id}/messages`, { content, message_type: 'incoming' });

  function fail(_: Received, response: ServerResponse): void {
    response.writeHead(500).end('broken');
  }

  async function deliveriesOf(webhook: { id: number }, query = ''): Promise<Record[]> {
    return (await app.get(`webhooks/${webhook.id}/deliveries${query}`)).body.payload;
  }

  function eventuallyIn(webhook: { id: number }, state: string, count = 1): Promise<Record[]> {
    return app.eventually(async () => {
      const found = await deliveriesOf(webhook, `?state=${state}`);
      return found.length >= count && found;
    });
  }

  const stateOf = async (id: number) => (await app.get(`deliveries/${id}`)).body.state;
  const contents = () => receiver.received.map(({ body }) => body['content']);

  describe('a resend', () => {
    it('is a new delivery of the same event with the same id, signed by the secret of now', async () => {
      const webhook = await webhookFor(['contact_created']);
      await made('contacts', { name: 'Grace' });
      const [original] = await eventuallyIn(webhook, 'delivered');
      const { secret } = (await app.post(`webhooks/${webhook.id}/rotate_secret`)).body;
      const copy = await made(`deliveries/${original.id}/resend`, {}, 202);
      expect(copy).to.deep.include({ state: 'pending', trigger: 'resend', attempts: 0, event: 'contact_created' });
      expect(copy.id).not.to.equal(original.id);
      expect(copy.webhook_message_id).to.equal(original.webhook_message_id);
      const [first, second] = await receiver.waitFor(2);
      expect(second!.headers['webhook-id']).to.equal(first!.headers['webhook-id']);
      expect(second!.text).to.equal(first!.text);
      for (const known of [secret, webhook.secret]) verify(known, second!);
      await app.eventually(async () => (await stateOf(copy.id)) === 'delivered');
      expect(await stateOf(original.id)).to.equal('delivered');
      expect((await deliveriesOf(webhook)).map(({ id }) => id)).to.deep.equal([copy.id, original.id]);
    });

    it('that arrives ends the pending original as delivered, and what waited behind it goes on', async () => {
      const webhook = await webhookFor(['message_created']);
      receiver.answerWith(fail);
      const id = await conversation();
      await say(id, 'one');
      const [original] = await eventuallyIn(webhook, 'failing');
      await say(id, 'two');
      await pause();
      expect(contents()).to.deep.equal(['one']);
      receiver.answerWith((_, response) => response.end());
      const copy = await made(`deliveries/${original.id}/resend`, {}, 202);
      await receiver.waitFor(3);
      expect(contents()).to.deep.equal(['one', 'one', 'two']);
      await app.eventually(async () => (await stateOf(copy.id)) === 'delivered');
      const { body: ended } = await app.get(`deliveries/${original.id}`);
      expect(ended).to.include({ state: 'delivered', next_attempt_at: null, last_error: null, last_status: 200 });
      await eventuallyIn(webhook, 'delivered', 3);
    });

    it('that fails goes by the schedule, and holds back nothing', async () => {
      const webhook = await webhookFor(['message_created']);
      const id = await conversation();
      await say(id, 'one');
      const [original] = await eventuallyIn(webhook, 'delivered');
      receiver.answerWith((received, response) =>
        received.body['content'] === 'one' ? fail(received, response) : response.end(),
      );
      const copy = await made(`deliveries/${original.id}/resend`, {}, 202);
      await app.eventually(async () => (await stateOf(copy.id)) === 'failing');
      await say(id, 'two');
      await receiver.waitFor(3);
      expect(contents()).to.deep.equal(['one', 'one', 'two']);
      const { body: failing } = await app.get(`deliveries/${copy.id}`);
      expect(failing.next_attempt_at).to.be.within(Date.now() / 1000, Date.now() / 1000 + 8);
      expect(await stateOf(original.id)).to.equal('delivered');
    });

    it('is refused while an attempt is running, to a webhook that is off or deleted, and of what is not there', async () => {
      const webhook = await webhookFor(['contact_created']);
      const { promise: end, resolve } = Promise.withResolvers<void>();
      receiver.answerWith((_, response) => void end.then(() => response.end()));
      await made('contacts', { name: 'Grace' });
      await receiver.waitFor(1);
      const [running] = await deliveriesOf(webhook);
      expect((await app.post(`deliveries/${running.id}/resend`)).body).to.include({ code: 'delivery_running' });
      resolve();
      await eventuallyIn(webhook, 'delivered');
      await app.patch(`webhooks/${webhook.id}`, { active: false });
      const off = await app.post(`deliveries/${running.id}/resend`);
      expect([off.status, off.body.code]).to.deep.equal([409, 'endpoint_off']);
      await app.delete(`webhooks/${webhook.id}`);
      const gone = await app.post(`deliveries/${running.id}/resend`);
      expect([gone.status, gone.body.code]).to.deep.equal([409, 'endpoint_gone']);
      expect((await app.post('deliveries/99999999/resend')).status).to.equal(404);
    });

    it('of a delivery that is in progress by now ends it as delivered, however its attempt ends', async () => {
      const webhook = await webhookFor(['contact_created']);
      receiver.answerWith(fail);
      await made('contacts', { name: 'Grace' });
      const [original] = await eventuallyIn(webhook, 'failing');
      const [copyMay, originalMay] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const later: Received[] = [];
      receiver.answerWith((received, response) => {
        later.push(received);
        if (later.length === 1) void copyMay.promise.then(() => response.end());
        else void originalMay.promise.then(() => fail(received, response));
      });
      const copy = await made(`deliveries/${original.id}/resend`, {}, 202);
      await app.eventually(async () => later.length === 1);
      // While the resend waits for its answer the original's next attempt begins.
      await app.query('UPDATE deliveries SET next_attempt_at = now() WHERE id = $1', [original.id]);
      await app.query('UPDATE lanes SET due_at = now() WHERE id = (SELECT lane_id FROM deliveries WHERE id = $1)', [
        original.id,
      ]);
      app.app.engine.poke();
      await app.eventually(async () => later.length === 2);
      copyMay.resolve();
      await app.eventually(async () => (await stateOf(copy.id)) === 'delivered');
      expect(await stateOf(original.id)).to.equal('failing');
      originalMay.resolve();
      await app.eventually(async () => (await stateOf(original.id)) === 'delivered');
      const { body: ended } = await app.get(`deliveries/${original.id}`);
      expect(ended.attempts.map(({ error }: Record) => error?.class)).to.deep.equal(['bad_status', 'bad_status']);
    });
  });

  describe('a pause', () => {
    it('holds everything, ages nothing, and loses nothing when it ends', async () => {
      const webhook = await webhookFor(['message_created']);
      const paused = (await app.post(`webhooks/${webhook.id}/pause`)).body;
      expect(paused.paused).to.equal(true);
      expect((await app.post(`webhooks/${webhook.id}/pause`)).body).to.deep.equal(paused);
      const id = await conversation();
      for (const text of ['one', 'two', 'three']) await say(id, text);
      await pause();
      expect(receiver.received).to.deep.equal([]);
      expect(await deliveriesOf(webhook, '?state=pending')).to.have.length(3);
      // As if it had failed before a pause of six days.
      await app.query(
        `UPDATE webhooks SET paused_at = now() - interval '6 days', failing_since = now() - interval '7 days',
           consecutive_failures = 20 WHERE id = $1`,
        [webhook.id],
      );
      receiver.answerWith(fail);
      expect((await app.post(`webhooks/${webhook.id}/resume`)).body.paused).to.equal(false);
      await eventuallyIn(webhook, 'failing');
      const after = (await app.get(`webhooks/${webhook.id}`)).body;
      expect(after).to.include({ active: true, paused: false });
      expect(after.circuit.failing_since).to.be.closeTo(Date.now() / 1000 - 86_400, 60);
      receiver.answerWith((_, response) => response.end());
      await eventuallyIn(webhook, 'delivered', 3);
      expect(contents()).to.deep.equal(['one', 'one', 'two', 'three']);
      expect((await app.post(`webhooks/${webhook.id}/resume`)).status).to.equal(200);
    });
  });

  it('what waits is cancelled on request, and later events are sent', async () => {
    const webhook = await webhookFor(['message_created']);
    receiver.answerWith(fail);
    const id = await conversation();
    await say(id, 'one');
    await eventuallyIn(webhook, 'failing');
    await say(id, 'two');
    const { status, body } = await app.post(`webhooks/${webhook.id}/cancel_pending`);
    expect([status, body]).to.deep.equal([200, { count: 2 }]);
    const cancelled = await eventuallyIn(webhook, 'cancelled', 2);
    expect(cancelled.map(({ last_error: error }) => error)).to.deep.equal([
      'cancelled_on_request',
      'cancelled_on_request',
    ]);
    receiver.answerWith((_, response) => response.end());
    await say(id, 'three');
    await receiver.waitFor(2);
    expect(contents()).to.deep.equal(['one', 'three']);
    expect((await app.post(`webhooks/${webhook.id}/cancel_pending`)).body.count).to.be.at.most(1);
  });

  describe('a test', () => {
    it('sends a sample of any event that fits its schema, marked, and in no feed', async () => {
      const webhook = await webhookFor(['contact_created']);
      const names = eventsFor('account');
      for (const event of names) {
        const delivery = await made(`webhooks/${webhook.id}/test`, { event }, 202);
        expect(delivery).to.include({ event, trigger: 'test', webhook_id: webhook.id });
      }
      const received = await receiver.waitFor(names.length);
      for (const one of received) {
        verify(webhook.secret, one);
        expect(one.headers['webhook-test']).to.equal('true');
        assertShape(payloadSchema(one.body['event'] as never, 'account'), one.body);
        expect(one.body['account']).to.deep.include({ id: 1 });
      }
      expect(received.map(({ body }) => body['event'])).to.have.members(names);
      const [feed] = await app.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM events e JOIN event_feed f ON f.event_id = e.id WHERE e.is_test',
      );
      expect(feed).to.deep.equal({ count: 0 });
      expect(
        await app.query('SELECT FROM unplaced_events u JOIN events e ON e.id = u.event_id WHERE e.is_test'),
      ).to.deep.equal([]);
    });

    it('is tried once, and by default sends an event that the webhook is subscribed to', async () => {
      const webhook = await webhookFor(['conversation_updated']);
      receiver.answerWith(fail);
      const { id } = await made(`webhooks/${webhook.id}/test`, {}, 202);
      await app.eventually(async () => (await stateOf(id)) === 'exhausted');
      expect(receiver.received.map(({ body }) => body['event'])).to.deep.equal(['conversation_updated']);
    });

    it('is refused for an event that webhooks never get, and for one that is off', async () => {
      const webhook = await webhookFor(['contact_created']);
      const unknown = await app.post(`webhooks/${webhook.id}/test`, { event: 'conversation_opened' });
      expect([unknown.status, unknown.body.details[0].path]).to.deep.equal([422, '/event']);
      await app.patch(`webhooks/${webhook.id}`, { active: false });
      expect((await app.post(`webhooks/${webhook.id}/test`)).status).to.equal(409);
      expect(receiver.received).to.deep.equal([]);
    });
  });

  it('health tells how the last attempts went, and what waits', async () => {
    const webhook = await webhookFor(['contact_created']);
    const health = async () => (await app.get(`webhooks/${webhook.id}/health`)).body;
    expect(await health()).to.deep.include({
      attempts: 0,
      success_rate: null,
      p50_ms: null,
      pending: 0,
      oldest_pending_at: null,
    });
    receiver.answerWith((_, response) => void setTimeout(() => response.end(), 20));
    for (let count = 0; count < 3; count++) await made('contacts', { name: 'Grace' });
    await eventuallyIn(webhook, 'delivered', 3);
    receiver.answerWith(fail);
    await made('contacts', { name: 'Grace' });
    await eventuallyIn(webhook, 'failing');
    const found = await health();
    expect(found).to.deep.include({
      attempts: 4,
      success_rate: 0.75,
      pending: 1,
      consecutive_failures: 1,
      paused: false,
    });
    expect(found.p95_ms).to.be.at.least(20);
    expect(found.p50_ms).to.be.at.most(found.p95_ms);
    expect(found.oldest_pending_at).to.be.closeTo(Date.now() / 1000, 60);
    expect(found.circuit).to.include({ state: 'closed', consecutive_failures: 1 });
  });

  it('all of it is there for the servers of bots too', async () => {
    const bot = await made('agent_bots', { name: 'Server', outgoing_url: secure.receiver.url });
    const at = `agent_bots/${bot.id}`;
    expect((await app.post(`${at}/pause`)).body.paused).to.equal(true);
    const botInbox = await made('inboxes', { name: 'With a bot' });
    await app.post(`inboxes/${botInbox.id}/set_agent_bot`, { agent_bot: bot.id });
    const contact = await made('contacts', { name: 'Ada' });
    const { id } = await made('conversations', { inbox_id: botInbox.id, contact_id: contact.id });
    await say(id, 'Hello');
    await pause();
    expect(secure.receiver.received).to.deep.equal([]);
    expect((await app.get(`${at}/health`)).body).to.include({ pending: 1, paused: true });
    expect((await app.post(`${at}/resume`)).body.paused).to.equal(false);
    const [first] = await secure.receiver.waitFor(1);
    const [delivery] = await app.eventually(async () => {
      const { payload } = (await app.get(`${at}/deliveries?state=delivered`)).body;
      return payload.length > 0 && payload;
    });
    expect(delivery).to.include({
      agent_bot_id: bot.id,
      webhook_id: null,
      endpoint_kind: 'agent_bot',
      conversation_id: id,
    });
    // A person takes the conversation: the server gets the event again, whatever it may do about it.
    await app.post(`conversations/${id}/assignments`, { assignee_id: 1 });
    const before = secure.receiver.received.length;
    const copy = await made(`deliveries/${delivery.id}/resend`, {}, 202);
    await secure.receiver.waitFor(before + 1);
    expect(secure.receiver.received.at(-1)!.headers['webhook-id']).to.equal(first!.headers['webhook-id']);
    await app.eventually(async () => (await stateOf(copy.id)) === 'delivered');
    await made(`${at}/test`, { event: 'conversation_resolved' }, 202);
    const tested = (await secure.receiver.waitFor(before + 2)).at(-1)!;
    verify(bot.secret, tested);
    expect(tested.body['event']).to.equal('conversation_resolved');
    expect((await app.post(`${at}/test`, { event: 'contact_created' })).status).to.equal(422);
    expect((await app.post(`${at}/cancel_pending`)).body).to.deep.equal({ count: 0 });
  });

  it('is refused for a bot inside the service, which has no server', async () => {
    const [plugin] = await app.query<{ id: number }>(
      `INSERT INTO agent_bots (account_id, name, kind, plugin_id, events) VALUES (1, 'Inside', 'plugin', 'faq', '{}')
       RETURNING id`,
    );
    for (const verb of ['pause', 'resume', 'test', 'cancel_pending'])
      expect((await app.post(`agent_bots/${plugin!.id}/${verb}`)).status, verb).to.equal(422);
  });
});
