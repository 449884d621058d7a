import { expect } from 'chai';
import { startHttpsReceiver, type HttpsReceiver } from '../../support/https-receiver.ts';
import { fail, Sending } from '../../support/sending.ts';

describe('what deliveries wait for, and retrying them now', () => {
  const sending = Sending.use();

  async function waitOf(delivery: number) {
    return (await sending.app.get(`deliveries/${delivery}`)).body.waits_for;
  }

  it('tries everything that is failing, in the order of each conversation', async () => {
    const webhook = await sending.webhookFor('message_created');
    sending.receiver.answerWith(fail);
    const conversations = [await sending.conversation(), await sending.conversation()];
    for (const id of conversations) await sending.say(id, `first of ${id}`);
    await sending.eventuallyIn(webhook, 'failing', 2);
    await sending.putOff(webhook);
    for (const id of conversations) await sending.say(id, `second of ${id}`);
    await sending.putOff(webhook);
    const before = sending.receiver.received.length;
    sending.receiver.answerWith((_, response) => response.end());

    const recovered = await sending.made(`webhooks/${webhook.id}/recover`, { since: 1_700_000_000 }, 202);
    expect(recovered.count).to.equal(0);
    expect(recovered.hint).to.equal(`Deliveries are failing: 2. Retry them by POST …/webhooks/${webhook.id}/retry`);

    expect(await sending.made(`webhooks/${webhook.id}/retry`, {}, 202)).to.deep.equal({ count: 2 });
    await sending.eventuallyIn(webhook, 'delivered', 4);
    const got = sending.contents.slice(before);
    for (const id of conversations) expect(got.indexOf(`first of ${id}`)).to.be.below(got.indexOf(`second of ${id}`));
    expect(got).to.have.length(4);
    expect(await sending.made(`webhooks/${webhook.id}/retry`, {}, 202)).to.deep.equal({ count: 0 });
    const idle = await sending.made(`webhooks/${webhook.id}/recover`, { since: 1_700_000_000 }, 202);
    expect(idle).to.include({ count: 0, hint: null });
  });

  it('tries an open circuit at once, whose success lets the rest through', async () => {
    const webhook = await sending.webhookFor('contact_created');
    sending.receiver.answerWith(fail);
    await sending.made('contacts', { name: 'Ada' });
    await sending.eventuallyIn(webhook, 'failing');
    await sending.app.query(
      `UPDATE webhooks SET circuit_trips = 5, circuit_probe_at = now() + interval '1 hour' WHERE id = $1`,
      [webhook.id],
    );
    await sending.putOff(webhook);
    await sending.made('contacts', { name: 'Grace' });
    const [waiting] = await sending.eventuallyIn(webhook, 'pending');
    expect(waiting.waits_for).to.include({ reason: 'circuit', delivery_id: null });
    expect(waiting.waits_for.until).to.be.closeTo(Date.now() / 1000 + 3600, 120);
    sending.receiver.answerWith((_, response) => response.end());
    await sending.made(`webhooks/${webhook.id}/retry`, {}, 202);
    await sending.eventuallyIn(webhook, 'delivered', 2);
    expect((await sending.app.get(`webhooks/${webhook.id}`)).body.circuit.state).to.equal('closed');
  });

  it('is refused while the webhook is off, and for another account it does not exist', async () => {
    const webhook = await sending.webhookFor('contact_created');
    await sending.app.patch(`webhooks/${webhook.id}`, { active: false });
    const refused = await sending.app.post(`webhooks/${webhook.id}/retry`);
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'endpoint_off']);
    expect((await sending.app.post('webhooks/999999/retry')).status).to.equal(404);
  });

  describe('of a bot with a server', () => {
    let secure: HttpsReceiver;
    before(async () => {
      secure = await startHttpsReceiver();
    });
    after(() => secure.close());

    it('works the same', async () => {
      const bot = await sending.made('agent_bots', { name: 'Server', outgoing_url: secure.receiver.url });
      expect(await sending.made(`agent_bots/${bot.id}/retry`, {}, 202)).to.deep.equal({ count: 0 });
    });
  });

  it('a delivery says that it waits for an older one, for its schedule, or for the end of a pause', async () => {
    const webhook = await sending.webhookFor('message_created');
    sending.receiver.answerWith(fail);
    const id = await sending.conversation();
    await sending.say(id, 'one');
    const [first] = await sending.eventuallyIn(webhook, 'failing');
    await sending.putOff(webhook);
    await sending.say(id, 'two');
    const [second] = await sending.eventuallyIn(webhook, 'pending');
    await sending.putOff(webhook);
    const inAnHour = Date.now() / 1000 + 3600;
    const own = await waitOf(first.id);
    expect(own).to.include({ reason: 'schedule', delivery_id: null });
    expect(own.until).to.be.closeTo(inAnHour, 120);
    const behind = await waitOf(second.id);
    expect(behind).to.include({ reason: 'delivery', delivery_id: first.id });
    expect(behind.until).to.be.closeTo(inAnHour, 120);
    await sending.made(`webhooks/${webhook.id}/pause`, {}, 200);
    for (const delivery of [first, second])
      expect(await waitOf(delivery.id)).to.deep.equal({ reason: 'paused', delivery_id: null, until: null });
    await sending.made(`webhooks/${webhook.id}/cancel_pending`, {}, 200);
    await sending.eventuallyIn(webhook, 'cancelled', 2);
    expect(await waitOf(first.id)).to.equal(null);
  });
});

describe('a delivery of a recovery', () => {
  const sending = Sending.use();

  it('waits for it until all of its deliveries are there', async () => {
    const webhook = await sending.webhookFor('contact_created');
    sending.receiver.answerWith(fail);
    await sending.made('contacts', { name: 'Ada' });
    await sending.eventuallyIn(webhook, 'failing');
    await sending.made(`webhooks/${webhook.id}/cancel_pending`, {}, 200);
    await sending.eventuallyIn(webhook, 'cancelled');
    const { id } = await sending.made(`webhooks/${webhook.id}/recover`, { since: 1_700_000_000 }, 202);
    const [copy] = await sending.eventuallyIn(webhook, 'failing');
    await sending.putOff(webhook);
    for (const phase of ['gather', 'missing', 'release', 'send']) {
      await sending.app.query('UPDATE recoveries SET phase = $2 WHERE id = $1', [id, phase]);
      const { waits_for: wait } = (await sending.app.get(`deliveries/${copy.id}`)).body;
      expect(wait.reason, phase).to.equal(phase === 'send' ? 'schedule' : 'recovery');
    }
  });
});

describe('the log finds deliveries', () => {
  const sending = Sending.use();

  it('by the status, the error and the text of the answer, each and together', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const gone = await sending.made('webhooks', {
      url: 'http://127.0.0.1:9/',
      subscriptions: ['contact_created'],
    });
    sending.receiver.answerWith((_, response) => response.writeHead(422).end('Unknown field: 100% Größe'));
    await sending.made('contacts', { name: 'Ada' });
    const [refused] = await sending.eventuallyIn(webhook, 'failing');
    const [unreached] = await sending.eventuallyIn(gone, 'failing');
    sending.receiver.answerWith((_, response) => response.end('fine'));
    await sending.made('contacts', { name: 'Grace' });
    const [arrived] = await sending.eventuallyIn(webhook, 'delivered');

    const found = async (query: string) =>
      (await sending.app.get(`deliveries?${query}`)).body.payload.map(({ id }: { id: number }) => id);
    expect(await found('status_code=422')).to.deep.equal([refused.id]);
    expect(await found('error_class=bad_status')).to.deep.equal([refused.id]);
    expect(await found('error_class=connect'))
      .to.include(unreached.id)
      .and.not.include(refused.id);
    expect(await found(`q=${encodeURIComponent('100% größe')}`)).to.deep.equal([refused.id]);
    expect(await found('q=100_')).to.deep.equal([]);
    expect(await found('q=fine&status_code=200&event=contact_created&state=delivered')).to.deep.equal([arrived.id]);
    expect(await found('q=fine&status_code=422')).to.deep.equal([]);
    for (const query of ['q=ab', 'status_code=42', 'error_class=nope', 'event=mesage_created'])
      expect((await sending.app.get(`deliveries?${query}`)).status, query).to.equal(400);
  });
});

describe('who cancelled a delivery', () => {
  const sending = Sending.use();

  /** A webhook with a delivery that waits for its next attempt, and what is known of it once it is cancelled by `act`. */
  async function cancelledBy(act: (webhook: { id: number }) => Promise<unknown>) {
    const webhook = await sending.webhookFor('contact_created');
    sending.receiver.answerWith(fail);
    await sending.made('contacts', { name: 'Ada' });
    const [delivery] = await sending.eventuallyIn(webhook, 'failing');
    expect(delivery.cancelled_by).to.equal(null);
    await sending.putOff(webhook);
    await act(webhook);
    return sending.app.eventually(async () => {
      const { body } = await sending.app.get(`deliveries/${delivery.id}`);
      return body.state === 'cancelled' && body.cancelled_by;
    });
  }

  it('a person, who cancels what waits, or switches the webhook off', async () => {
    const person = { kind: 'person', id: 1, name: (await sending.app.get('agents')).body[0].name };
    expect(await cancelledBy(({ id }) => sending.app.post(`webhooks/${id}/cancel_pending`))).to.deep.equal(person);
    expect(await cancelledBy(({ id }) => sending.app.patch(`webhooks/${id}`, { active: false }))).to.deep.equal(person);
  });

  it('the one who deletes the webhook', async () => {
    const by = await cancelledBy(({ id }) => sending.app.delete(`webhooks/${id}`));
    expect(by).to.include({ kind: 'webhook_deleted', id: 1 });
  });

  it('the receiver, which says that it is gone', async () => {
    const by = await cancelledBy(async () => {
      sending.receiver.answerWith((_, response) => response.writeHead(410).end());
      await sending.made('contacts', { name: 'Grace' });
    });
    expect(by).to.deep.equal({ kind: 'gone' });
  });

  it('five days of failures', async () => {
    const by = await cancelledBy(async ({ id }) => {
      await sending.app.query(
        `UPDATE webhooks SET failing_since = now() - interval '6 days', consecutive_failures = 20 WHERE id = $1`,
        [id],
      );
      await sending.made('contacts', { name: 'Grace' });
    });
    expect(by).to.deep.equal({ kind: 'five_days' });
  });

  it('the person too, where the delivery was in progress at that moment', async () => {
    const webhook = await sending.webhookFor('contact_created');
    let answer = (): void => {};
    sending.receiver.answerWith((_, response) => {
      answer = () => response.writeHead(500).end();
    });
    await sending.made('contacts', { name: 'Ada' });
    await sending.receiver.waitFor(1);
    await sending.app.post(`webhooks/${webhook.id}/cancel_pending`);
    answer();
    const [cancelled] = await sending.eventuallyIn(webhook, 'cancelled');
    expect(cancelled.cancelled_by).to.include({ kind: 'person', id: 1 });
  });
});
