import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { TestApp } from '../support/app.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';
import { Receiver } from '../support/receiver.ts';
import { stopClean } from './ledger.ts';

interface DeliveryRow {
  state: string;
  last_error: string | null;
  last_status: number | null;
}

const muchLater = { 'retry-after': '3600' };

describe('an endpoint with a new address', function () {
  this.timeout(60_000);
  let app: TestApp;
  let inboxId: number;
  let old: Receiver;
  let present: Receiver;
  let webhookId: number;

  before(async () => {
    app = await TestApp.start();
    inboxId = (await app.post('inboxes', { name: 'Moved' })).body.id;
  });

  after(() => stopClean(app));

  beforeEach(async () => {
    [old, present] = [await Receiver.start(), await Receiver.start()];
    webhookId = (await app.post('webhooks', { url: old.url, subscriptions: ['conversation_created'] })).body.id;
  });

  afterEach(async () => {
    await app.delete(`webhooks/${webhookId}`);
    await Promise.all([old.close(), present.close()]);
  });

  async function converse(): Promise<number> {
    const { body: contact } = await app.post('contacts', { name: 'Customer' });
    return (await app.post('conversations', { inbox_id: inboxId, contact_id: contact.id })).body.id;
  }

  const webhook = async () => (await app.get(`webhooks/${webhookId}`)).body;
  const move = async (url = present.url) => {
    expect((await app.patch(`webhooks/${webhookId}`, { url })).status).to.equal(200);
  };
  const deliveries = () =>
    app.query<DeliveryRow>(
      `SELECT state, last_error, last_status FROM deliveries WHERE endpoint_kind = 'webhook' AND endpoint_id = $1 ORDER BY id`,
      [webhookId],
    );

  /** Lets what waits after a failed attempt at the old address wait for an hour. */
  async function waitAtOld(count: number): Promise<void> {
    old.answerWith((_, response) => response.writeHead(503, muchLater).end());
    for (let made = 0; made < count; made += 1) await converse();
    await app.eventually(async () => (await deliveries()).filter((row) => row.last_status === 503).length === count);
  }

  /** The answer to the next post to the old address, to be given when it suits the test. */
  function holdAnswer(): Promise<ServerResponse> {
    const { promise, resolve } = Promise.withResolvers<ServerResponse>();
    old.answerWith((_, response) => resolve(response));
    return promise;
  }

  it('is not switched off by a late 410 of the one before: the delivery is made to the new one', async () => {
    await waitAtOld(2);
    const answer = holdAnswer();
    const third = await converse();
    const held = await answer;
    await move();
    held.writeHead(410).end();
    const posts = await present.waitFor(3);
    expect(posts.map(({ body }) => body['id'])).to.include(third);
    await app.eventually(async () => (await deliveries()).every(({ state }) => state === 'delivered'));
    expect(await webhook()).to.include({ active: true, disabled_reason: null });
    await converse();
    await present.waitFor(4);
  });

  it('gets at once what waits for a retry at the one before', async () => {
    await waitAtOld(3);
    await move();
    await present.waitFor(3);
    await app.eventually(async () => (await deliveries()).every(({ state }) => state === 'delivered'));
    expect(old.received).to.have.lengthOf(3);
  });

  it('gets at once what fails at the one before after the change', async () => {
    const answer = holdAnswer();
    await converse();
    const held = await answer;
    await move();
    held.writeHead(503, muchLater).end();
    await present.waitFor(1);
    await app.eventually(async () => (await deliveries())[0]?.state === 'delivered');
  });

  it('does not answer for what fails at the one before after the change', async () => {
    const answer = holdAnswer();
    await converse();
    const held = await answer;
    await move();
    const { promise: arrived, resolve } = Promise.withResolvers<ServerResponse>();
    present.answerWith((_, response) => resolve(response));
    held.writeHead(503, muchLater).end();
    const again = await arrived;
    expect((await webhook()).circuit).to.include({ state: 'closed', consecutive_failures: 0, failing_since: null });
    again.end();
    await app.eventually(async () => (await deliveries())[0]?.state === 'delivered');
  });

  it('is not given what is still under way at the one before', async () => {
    const answer = holdAnswer();
    await converse();
    const held = await answer;
    await move();
    const lease = `SELECT lease_token IS NOT NULL AND due_at > now() AS holds FROM lanes
      WHERE endpoint_kind = 'webhook' AND endpoint_id = $1`;
    expect(await app.query(lease, [webhookId])).to.deep.equal([{ holds: true }]);
    held.end();
    await app.eventually(async () => (await deliveries())[0]?.state === 'delivered');
    expect(present.received).to.deep.equal([]);
  });

  it('that answers 410 itself is switched off; what waited is kept, told from all else, and later events come again', async () => {
    await waitAtOld(2);
    await move();
    await present.waitFor(2);
    await app.eventually(async () => (await deliveries()).every(({ state }) => state === 'delivered'));
    present.answerWith((_, response) => response.writeHead(503, muchLater).end());
    const waiting = [await converse(), await converse()];
    await present.waitFor(4);
    await app.eventually(async () => (await deliveries()).filter((row) => row.last_status === 503).length === 2);
    present.answerWith((_, response) => response.writeHead(410).end());
    await converse();
    await app.eventually(async () => !(await webhook()).active);
    expect((await webhook()).disabled_reason).to.equal('The receiver answered 410 Gone');
    const recoverable = await app.query<{ conversation_id: number }>(
      `SELECT e.conversation_id FROM deliveries d JOIN events e ON e.id = d.event_id
       WHERE d.endpoint_kind = 'webhook' AND d.endpoint_id = $1 AND d.state = 'cancelled'
         AND d.last_error = 'endpoint_disabled' ORDER BY d.id`,
      [webhookId],
    );
    expect(recoverable.map(({ conversation_id: id }) => id)).to.deep.equal(waiting);
    expect((await deliveries()).at(-1)).to.deep.equal({
      state: 'exhausted',
      last_error: 'bad_status',
      last_status: 410,
    });

    present.answerWith((_, response) => response.end());
    expect((await app.patch(`webhooks/${webhookId}`, { active: true })).body).to.include({ disabled_reason: null });
    const again = await converse();
    const posts = await present.waitFor(6);
    expect(posts.at(-1)!.body['id']).to.equal(again);
  });

  it('that is none, because the webhook was switched off meanwhile, ends what fails then', async () => {
    const answer = holdAnswer();
    await converse();
    const held = await answer;
    await app.patch(`webhooks/${webhookId}`, { active: false });
    held.writeHead(503, muchLater).end();
    await app.eventually(async () => (await deliveries())[0]?.state !== 'pending');
    expect((await deliveries())[0]).to.include({ state: 'cancelled', last_error: 'endpoint_disabled' });
    expect(old.received).to.have.lengthOf(1);
  });

  it('of a webhook that is deleted is told from that of one that is switched off', async () => {
    await waitAtOld(1);
    await app.delete(`webhooks/${webhookId}`);
    expect((await deliveries())[0]).to.include({ state: 'cancelled', last_error: 'endpoint_gone' });
  });
});

describe("a bot's server with a new address", function () {
  this.timeout(60_000);
  let app: TestApp;
  let https: HttpsReceiver;
  let id: number;
  let move: () => Promise<void>;

  beforeEach(async () => {
    app = await TestApp.start();
    https = await startHttpsReceiver();
    const [before, after] = [`${https.receiver.url}/before`, `${https.receiver.url}/after`];
    const { body: bot } = await app.post('agent_bots', { name: 'Robbi', outgoing_url: before });
    const { body: inbox } = await app.post('inboxes', { name: 'Bot' });
    await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id });
    const { body: contact } = await app.post('contacts', { name: 'Customer' });
    id = (await app.post('conversations', { inbox_id: inbox.id, contact_id: contact.id })).body.id;
    move = async () => {
      expect((await app.patch(`agent_bots/${bot.id}`, { outgoing_url: after })).status).to.equal(200);
    };
  });

  afterEach(async () => {
    await stopClean(app);
    await https.close();
  });

  const say = () => app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'incoming' });
  const isDelivered = () =>
    app.eventually(async () => {
      const rows = await app.query<{ state: string }>(`SELECT state FROM deliveries WHERE endpoint_kind = 'bot'`);
      return rows.length === 1 && rows[0]?.state === 'delivered';
    });

  it('gets at once what waits for a retry at the one before', async () => {
    https.receiver.answerWith((_, response) => response.writeHead(503, { 'retry-after': '600' }).end());
    await say();
    await app.eventually(async () => (await app.query('SELECT FROM deliveries WHERE last_status = 503')).length === 1);
    https.receiver.answerWith((_, response) => response.end());
    await move();
    await isDelivered();
    expect(https.receiver.received).to.have.lengthOf(2);
  });

  it('does not lose its conversation by a late 410 of the one before', async () => {
    const { promise, resolve } = Promise.withResolvers<ServerResponse>();
    https.receiver.answerWith((_, response) => resolve(response));
    await say();
    const held = await promise;
    await move();
    https.receiver.answerWith((_, response) => response.end());
    held.writeHead(410).end();
    await isDelivered();
    expect((await app.get(`conversations/${id}`)).body.status).to.equal('pending');
  });
});
