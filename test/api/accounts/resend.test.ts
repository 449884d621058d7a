import { expect } from 'chai';
import { Client } from 'pg';
import { startHttpsReceiver, type HttpsReceiver } from '../../support/https-receiver.ts';
import { verify, type Received } from '../../support/receiver.ts';
import { fail, Sending, type Body } from '../../support/sending.ts';

// An engine begins within a few milliseconds of the commit.
const longEnoughMs = 400;
const pause = () => new Promise((resolve) => setTimeout(resolve, longEnoughMs));

describe('deliveries on request', () => {
  const sending = Sending.use();
  let secure: HttpsReceiver;

  before(async () => {
    secure = await startHttpsReceiver();
  });

  after(() => secure.close());

  /** As three attempts without an answer leave the webhook, an hour before its next probe. */
  async function openCircuit({ id }: { id: number }): Promise<void> {
    await sending.app.query(
      `UPDATE webhooks SET consecutive_failures = 3, unanswered_attempts = 3, failing_since = now(), circuit_trips = 1,
         circuit_probe_at = now() + interval '1 hour' WHERE id = $1`,
      [id],
    );
  }

  describe('a resend', () => {
    it('is a new delivery of the same event with the same id, signed by the secret of now', async () => {
      const webhook = await sending.webhookFor('contact_created');
      await sending.made('contacts', { name: 'Grace' });
      const [original] = await sending.eventuallyIn(webhook, 'delivered');
      const { secret } = (await sending.app.post(`webhooks/${webhook.id}/rotate_secret`)).body;
      const copy = await sending.made(`deliveries/${original.id}/resend`, {}, 202);
      expect(copy).to.deep.include({ state: 'pending', trigger: 'resend', attempts: 0, event: 'contact_created' });
      expect(copy.id).not.to.equal(original.id);
      expect(copy.webhook_message_id).to.equal(original.webhook_message_id);
      const [first, second] = await sending.receiver.waitFor(2);
      expect(second!.headers['webhook-id']).to.equal(first!.headers['webhook-id']);
      expect(second!.text).to.equal(first!.text);
      for (const known of [secret, webhook.secret]) verify(known, second!);
      await sending.app.eventually(async () => (await sending.stateOf(copy.id)) === 'delivered');
      expect(await sending.stateOf(original.id)).to.equal('delivered');
      expect((await sending.deliveriesOf(webhook)).map(({ id }) => id)).to.deep.equal([copy.id, original.id]);
    });

    it('that arrives ends the pending original as delivered, and what waited behind it goes on', async () => {
      const webhook = await sending.webhookFor('message_created');
      sending.receiver.answerWith(fail);
      const id = await sending.conversation();
      await sending.say(id, 'one');
      const [original] = await sending.eventuallyIn(webhook, 'failing');
      // Its own next attempt would come too late to be taken for the resend's doing.
      await sending.putOff(webhook);
      await sending.say(id, 'two');
      await pause();
      expect(sending.contents).to.deep.equal(['one']);
      await sending.putOff(webhook);
      sending.receiver.answerWith((_, response) => response.end());
      const copy = await sending.made(`deliveries/${original.id}/resend`, {}, 202);
      await sending.receiver.waitFor(3);
      expect(sending.contents).to.deep.equal(['one', 'one', 'two']);
      await sending.app.eventually(async () => (await sending.stateOf(copy.id)) === 'delivered');
      const { body: ended } = await sending.app.get(`deliveries/${original.id}`);
      expect(ended).to.include({ state: 'delivered', next_attempt_at: null, last_error: null, last_status: 200 });
      await sending.eventuallyIn(webhook, 'delivered', 3);
    });

    it('goes at once to a webhook whose circuit is open', async () => {
      const webhook = await sending.webhookFor('contact_created');
      await sending.made('contacts', { name: 'Grace' });
      const [original] = await sending.eventuallyIn(webhook, 'delivered');
      await openCircuit(webhook);
      await sending.made(`deliveries/${original.id}/resend`, {}, 202);
      await sending.eventuallyIn(webhook, 'delivered', 2);
      expect((await sending.app.get(`webhooks/${webhook.id}`)).body.circuit.state).to.equal('closed');
    });

    it('that fails goes by the schedule, and holds back nothing', async () => {
      const webhook = await sending.webhookFor('message_created');
      const id = await sending.conversation();
      await sending.say(id, 'one');
      const [original] = await sending.eventuallyIn(webhook, 'delivered');
      sending.receiver.answerWith((received, response) =>
        received.body['content'] === 'one' ? fail(received, response) : response.end(),
      );
      const copy = await sending.made(`deliveries/${original.id}/resend`, {}, 202);
      const asked = Date.now() / 1000;
      await sending.app.eventually(async () => (await sending.stateOf(copy.id)) === 'failing');
      const { body: failing } = await sending.app.get(`deliveries/${copy.id}`);
      expect(failing.next_attempt_at).to.be.within(asked + 4, Date.now() / 1000 + 8);
      await sending.putOff(webhook);
      await sending.say(id, 'two');
      await sending.receiver.waitFor(3);
      expect(sending.contents).to.deep.equal(['one', 'one', 'two']);
      expect(await sending.stateOf(original.id)).to.equal('delivered');
    });

    it('is refused while an attempt is running, to a webhook that is off or deleted, and of what is not there', async () => {
      const webhook = await sending.webhookFor('contact_created');
      const { promise: end, resolve } = Promise.withResolvers<void>();
      sending.receiver.answerWith((_, response) => void end.then(() => response.end()));
      await sending.made('contacts', { name: 'Grace' });
      await sending.receiver.waitFor(1);
      const [running] = await sending.deliveriesOf(webhook);
      expect((await sending.app.post(`deliveries/${running.id}/resend`)).body).to.include({ code: 'delivery_running' });
      resolve();
      await sending.eventuallyIn(webhook, 'delivered');
      await sending.app.patch(`webhooks/${webhook.id}`, { active: false });
      const off = await sending.app.post(`deliveries/${running.id}/resend`);
      expect([off.status, off.body.code]).to.deep.equal([409, 'endpoint_off']);
      await sending.app.delete(`webhooks/${webhook.id}`);
      const gone = await sending.app.post(`deliveries/${running.id}/resend`);
      expect([gone.status, gone.body.code]).to.deep.equal([409, 'endpoint_gone']);
      expect((await sending.app.post('deliveries/99999999/resend')).status).to.equal(404);
    });

    it('beside the deletion of its conversation finds it gone', async () => {
      const webhook = await sending.webhookFor('message_created');
      const conversation = await sending.conversation();
      await sending.say(conversation, 'one');
      const [original] = await sending.eventuallyIn(webhook, 'delivered');
      const beside = new Client({ connectionString: sending.app.databaseUrl });
      await beside.connect();
      const waiting = (count: number) =>
        sending.app.eventually(async () => {
          const blocked = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
          return (await sending.app.query(blocked)).length >= count;
        });
      try {
        // Both wait for the row, the deletion first.
        await beside.query('BEGIN');
        await beside.query('SELECT FROM deliveries WHERE id = $1 FOR UPDATE', [original.id]);
        const deletion = sending.app.delete(`conversations/${conversation}`);
        await waiting(1);
        const resend = sending.app.post(`deliveries/${original.id}/resend`);
        await waiting(2);
        await beside.query('COMMIT');
        expect((await deletion).status).to.equal(200);
        const { status, body } = await resend;
        expect([status, body.code], JSON.stringify(body)).to.deep.equal([404, 'not_found']);
      } finally {
        await beside.end();
      }
      expect(
        await sending.app.query(`SELECT FROM deliveries WHERE trigger = 'resend' AND state = 'pending'`),
      ).to.deep.equal([]);
    });

    it('of a delivery that is in progress by now ends it as delivered, however its attempt ends', async () => {
      const webhook = await sending.webhookFor('contact_created');
      sending.receiver.answerWith(fail);
      await sending.made('contacts', { name: 'Grace' });
      const [original] = await sending.eventuallyIn(webhook, 'failing');
      await sending.putOff(webhook);
      const [copyMay, originalMay] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const later: Received[] = [];
      sending.receiver.answerWith((received, response) => {
        later.push(received);
        if (later.length === 1) void copyMay.promise.then(() => response.end());
        else void originalMay.promise.then(() => fail(received, response));
      });
      const copy = await sending.made(`deliveries/${original.id}/resend`, {}, 202);
      await sending.app.eventually(async () => later.length === 1);
      // While the resend waits for its answer the original's next attempt begins.
      await sending.app.query('UPDATE deliveries SET next_attempt_at = now() WHERE id = $1', [original.id]);
      await sending.app.query(
        'UPDATE lanes SET due_at = now() WHERE id = (SELECT lane_id FROM deliveries WHERE id = $1)',
        [original.id],
      );
      sending.app.app.engine.poke();
      await sending.app.eventually(async () => later.length === 2);
      copyMay.resolve();
      await sending.app.eventually(async () => (await sending.stateOf(copy.id)) === 'delivered');
      expect(await sending.stateOf(original.id)).to.equal('failing');
      originalMay.resolve();
      await sending.app.eventually(async () => (await sending.stateOf(original.id)) === 'delivered');
      const { body: ended } = await sending.app.get(`deliveries/${original.id}`);
      expect(ended.attempts.map(({ error }: Body) => error?.class)).to.deep.equal(['bad_status', 'bad_status']);
    });
  });

  describe('a pause', () => {
    it('holds everything, ages nothing, and loses nothing when it ends', async () => {
      const webhook = await sending.webhookFor('message_created');
      // The engine knows that it answers, and does not look at it again before it claims.
      const id = await sending.conversation();
      await sending.say(id, 'zero');
      await sending.receiver.waitFor(1);
      const paused = (await sending.app.post(`webhooks/${webhook.id}/pause`)).body;
      expect(paused.paused).to.equal(true);
      expect((await sending.app.post(`webhooks/${webhook.id}/pause`)).body).to.deep.equal(paused);
      for (const text of ['one', 'two', 'three']) await sending.say(id, text);
      await pause();
      expect(sending.contents).to.deep.equal(['zero']);
      expect(await sending.deliveriesOf(webhook, '?state=pending')).to.have.length(3);
      // As if it had failed before a pause of six days.
      await sending.app.query(
        `UPDATE webhooks SET paused_at = now() - interval '6 days', failing_since = now() - interval '7 days',
           consecutive_failures = 20 WHERE id = $1`,
        [webhook.id],
      );
      // Whoever pauses what is paused does not begin the pause anew.
      await sending.app.post(`webhooks/${webhook.id}/pause`);
      sending.receiver.answerWith(fail);
      expect((await sending.app.post(`webhooks/${webhook.id}/resume`)).body.paused).to.equal(false);
      await sending.eventuallyIn(webhook, 'failing');
      const after = (await sending.app.get(`webhooks/${webhook.id}`)).body;
      expect(after).to.include({ active: true, paused: false });
      expect(after.circuit.failing_since).to.be.closeTo(Date.now() / 1000 - 86_400, 60);
      sending.receiver.answerWith((_, response) => response.end());
      await sending.eventuallyIn(webhook, 'delivered', 4);
      expect(sending.contents).to.deep.equal(['zero', 'one', 'one', 'two', 'three']);
      expect((await sending.app.post(`webhooks/${webhook.id}/resume`)).status).to.equal(200);
    });

    it('shows all that waits, one included whose transaction began before that of what it waits behind', async () => {
      const webhook = await sending.webhookFor('message_created');
      await sending.app.post(`webhooks/${webhook.id}/pause`);
      const id = await sending.conversation();
      for (const text of ['one', 'two']) await sending.say(id, text);
      const [second, first] = await sending.deliveriesOf(webhook);
      await sending.app.query(
        `UPDATE deliveries SET created_at = (SELECT created_at FROM deliveries WHERE id = $2) - interval '5 seconds' WHERE id = $1`,
        [second.id, first.id],
      );
      const waiting = await sending.deliveriesOf(webhook, '?state=pending');
      expect(waiting.map((delivery: Body) => delivery.id)).to.deep.equal([first.id, second.id]);
    });

    it('that ends has a webhook tried at once whose circuit is open', async () => {
      const webhook = await sending.webhookFor('contact_created');
      await sending.app.post(`webhooks/${webhook.id}/pause`);
      await sending.made('contacts', { name: 'Grace' });
      await openCircuit(webhook);
      await sending.app.post(`webhooks/${webhook.id}/resume`);
      await sending.eventuallyIn(webhook, 'delivered');
    });
  });

  it('what waits is cancelled on request, and later events are sent', async () => {
    const webhook = await sending.webhookFor('message_created');
    sending.receiver.answerWith(fail);
    const id = await sending.conversation();
    await sending.say(id, 'one');
    await sending.eventuallyIn(webhook, 'failing');
    await sending.putOff(webhook);
    await sending.say(id, 'two');
    const { status, body } = await sending.app.post(`webhooks/${webhook.id}/cancel_pending`);
    expect([status, body]).to.deep.equal([200, { count: 2 }]);
    const cancelled = await sending.eventuallyIn(webhook, 'cancelled', 2);
    expect(cancelled.map(({ last_error: error }) => error)).to.deep.equal([
      'cancelled_on_request',
      'cancelled_on_request',
    ]);
    sending.receiver.answerWith((_, response) => response.end());
    await sending.say(id, 'three');
    await sending.receiver.waitFor(2);
    expect(sending.contents).to.deep.equal(['one', 'three']);
    expect((await sending.app.post(`webhooks/${webhook.id}/cancel_pending`)).body.count).to.be.at.most(1);
  });

  describe('a test', () => {
    it('is tried once, and by default sends an event that the webhook is subscribed to', async () => {
      const webhook = await sending.webhookFor('conversation_updated');
      sending.receiver.answerWith(fail);
      const { id } = await sending.made(`webhooks/${webhook.id}/test`, {}, 202);
      await sending.app.eventually(async () => (await sending.stateOf(id)) === 'exhausted');
      expect(sending.receiver.received.map(({ body }) => body['event'])).to.deep.equal(['conversation_updated']);
    });

    it('is refused for an event that webhooks never get, and for one that is off', async () => {
      const webhook = await sending.webhookFor('contact_created');
      const unknown = await sending.app.post(`webhooks/${webhook.id}/test`, { event: 'conversation_opened' });
      expect([unknown.status, unknown.body.details[0].path]).to.deep.equal([422, '/event']);
      await sending.app.patch(`webhooks/${webhook.id}`, { active: false });
      expect((await sending.app.post(`webhooks/${webhook.id}/test`)).status).to.equal(409);
      expect(sending.receiver.received).to.deep.equal([]);
    });
  });

  it('health tells how the last attempts went, and what waits', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const health = async () => (await sending.app.get(`webhooks/${webhook.id}/health`)).body;
    expect(await health()).to.deep.include({
      attempts: 0,
      success_rate: null,
      p50_ms: null,
      pending: 0,
      oldest_pending_at: null,
    });
    sending.receiver.answerWith((_, response) => void setTimeout(() => response.end(), 20));
    for (let count = 0; count < 3; count++) await sending.made('contacts', { name: 'Grace' });
    await sending.eventuallyIn(webhook, 'delivered', 3);
    sending.receiver.answerWith(fail);
    await sending.made('contacts', { name: 'Grace' });
    const [older] = await sending.eventuallyIn(webhook, 'failing');
    await sending.app.query(`UPDATE deliveries SET created_at = now() - interval '1 hour' WHERE id = $1`, [older.id]);
    await sending.app.post(`webhooks/${webhook.id}/pause`);
    await sending.made('contacts', { name: 'Grace' });
    await sending.app.query(`UPDATE webhooks SET paused_at = NULL WHERE id = $1`, [webhook.id]);
    // What a server near by refuses at once is stored with no duration.
    await sending.app.query(
      `UPDATE attempts SET duration_ms = 0 FROM deliveries d WHERE d.id = delivery_id AND d.endpoint_id = $1 AND status = 500`,
      [webhook.id],
    );
    const found = await health();
    expect(found).to.deep.include({
      attempts: 4,
      success_rate: 0.75,
      pending: 2,
      consecutive_failures: 1,
      paused: false,
    });
    expect(found.p95_ms).to.be.at.least(20);
    expect(found.p50_ms).to.be.at.most(found.p95_ms);
    expect(found.oldest_pending_at).to.be.closeTo(Date.now() / 1000 - 3600, 60);
    expect(found.circuit).to.include({ state: 'closed', consecutive_failures: 1 });
  });

  it('all of it is there for the servers of bots too', async () => {
    const bot = await sending.made('agent_bots', { name: 'Server', outgoing_url: secure.receiver.url });
    const at = `agent_bots/${bot.id}`;
    expect((await sending.app.post(`${at}/pause`)).body.paused).to.equal(true);
    const botInbox = await sending.made('inboxes', { name: 'With a bot' });
    await sending.app.post(`inboxes/${botInbox.id}/set_agent_bot`, { agent_bot: bot.id });
    const contact = await sending.made('contacts', { name: 'Ada' });
    const { id } = await sending.made('conversations', { inbox_id: botInbox.id, contact_id: contact.id });
    await sending.say(id, 'Hello');
    await pause();
    expect(secure.receiver.received).to.deep.equal([]);
    expect((await sending.app.get(`${at}/health`)).body).to.include({ pending: 1, paused: true });
    expect((await sending.app.post(`${at}/resume`)).body.paused).to.equal(false);
    const [first] = await secure.receiver.waitFor(1);
    const [delivery] = await sending.app.eventually(async () => {
      const { payload } = (await sending.app.get(`${at}/deliveries?state=delivered`)).body;
      return payload.length > 0 && payload;
    });
    expect(delivery).to.include({
      agent_bot_id: bot.id,
      webhook_id: null,
      endpoint_kind: 'agent_bot',
      conversation_id: id,
    });
    // A person takes the conversation: the server gets the event again, whatever it may do about it.
    await sending.app.post(`conversations/${id}/assignments`, { assignee_id: 1 });
    const before = secure.receiver.received.length;
    const copy = await sending.made(`deliveries/${delivery.id}/resend`, {}, 202);
    await secure.receiver.waitFor(before + 1);
    expect(secure.receiver.received.at(-1)!.headers['webhook-id']).to.equal(first!.headers['webhook-id']);
    await sending.app.eventually(async () => (await sending.stateOf(copy.id)) === 'delivered');
    const test = await sending.made(`${at}/test`, { event: 'conversation_resolved' }, 202);
    const tested = (await secure.receiver.waitFor(before + 2)).at(-1)!;
    verify(bot.secret, tested);
    expect(tested.body['event']).to.equal('conversation_resolved');
    expect((await sending.app.post(`${at}/test`, { event: 'contact_created' })).status).to.equal(422);
    // The receiver has the request before its answer is recorded.
    await sending.app.eventually(async () => (await sending.stateOf(test.id)) === 'delivered');
    expect((await sending.app.post(`${at}/cancel_pending`)).body).to.deep.equal({ count: 0 });
  });

  it('is refused for a bot inside the service, which has no server', async () => {
    const [plugin] = await sending.app.query<{ id: number }>(
      `INSERT INTO agent_bots (account_id, name, kind, plugin_id, events) VALUES (1, 'Inside', 'plugin', 'faq', '{}')
       RETURNING id`,
    );
    for (const verb of ['pause', 'resume', 'test', 'cancel_pending'])
      expect((await sending.app.post(`agent_bots/${plugin!.id}/${verb}`)).status, verb).to.equal(422);
  });
});
