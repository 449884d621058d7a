import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { addAccount } from '../support/people.ts';
import { Receiver } from '../support/receiver.ts';
import { quantile } from './helpers.ts';
import { stopClean } from './ledger.ts';

const hanging = 34;
const conversations = 12;

// Takes connections and never says a word.
async function startSilentServer(): Promise<{ server: Server; url: string; sockets: Set<unknown>; close: () => void }> {
  const sockets = new Set<{ destroy: () => void }>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { server, sockets, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

describe('a crowd of receivers that hang', function () {
  this.timeout(60_000);
  let app: TestApp;
  let silent: Awaited<ReturnType<typeof startSilentServer>>;
  let receiver: Receiver;

  before(async () => {
    // As long as they may be: the healthy ones are to hear of it before one of those that hang is given up.
    app = await TestApp.start({ config: { webhookTimeoutMs: 25_000 } });
    silent = await startSilentServer();
    receiver = await Receiver.start();
  });

  after(async () => {
    silent.close();
    await stopClean(app);
    await receiver.close();
  });

  it('does not keep a healthy webhook, nor a bot, from hearing of another conversation', async () => {
    const { id: inboxId } = (await app.get('inboxes')).body.payload[0];
    const crowded = await app.post('inboxes', { name: 'Crowded', channel_type: 'Channel::Api' });
    const contact = await app.post('contacts', { name: 'Customer' });
    const subscriptions = ['message_created'];
    for (let count = 0; count < hanging; count++) {
      await app.post('webhooks', { url: `${silent.url}/${count}`, subscriptions, inbox_id: crowded.body.id });
    }
    await app.post('webhooks', { url: receiver.url, subscriptions, inbox_id: inboxId });
    for (let count = 0; count < conversations; count++) {
      const { body } = await app.post('conversations', { inbox_id: crowded.body.id, contact_id: contact.body.id });
      await app.post(`conversations/${body.id}/messages`, { content: 'Hello', message_type: 'incoming' });
    }
    const { body } = await app.post('conversations', { inbox_id: inboxId, contact_id: contact.body.id });
    await app.post(`conversations/${body.id}/messages`, { content: 'opening hours?', message_type: 'incoming' });
    const [question, answer] = await receiver.waitFor(2);
    const givenUp = `SELECT FROM attempts a JOIN deliveries d ON d.id = a.delivery_id AND d.endpoint_kind = 'webhook'
      JOIN webhooks w ON w.id = d.endpoint_id WHERE w.url LIKE $1`;
    expect(await app.query(givenUp, [`${silent.url}%`])).to.deep.equal([]);
    expect([question?.body.message_type, answer?.body.message_type]).to.deep.equal(['incoming', 'outgoing']);
  });
});

const tenants = 6;
const webhooksOfTenant = 100;
const backlog = 20;
const samples = 80;

describe('six hundred receivers that hang, of six tenants', function () {
  this.timeout(180_000);
  let app: TestApp;
  let silent: Awaited<ReturnType<typeof startSilentServer>>;
  let receiver: Receiver;

  before(async () => {
    // Longer than anything here is measured.
    app = await TestApp.start({ config: { webhookTimeoutMs: 25_000 } });
    silent = await startSilentServer();
    receiver = await Receiver.start();
  });

  after(async () => {
    silent.close();
    await stopClean(app);
    await receiver.close();
  });

  /** Makes the webhooks of a tenant, each with a backlog on lanes of its own that are not due yet. */
  async function crowd(accountId: number, sealedSecret: string): Promise<void> {
    await app.query(
      `WITH contact AS (INSERT INTO contacts (account_id, name) VALUES ($1, 'Customer') RETURNING id),
       webhook AS (
         INSERT INTO webhooks (account_id, url, subscriptions, secret)
         SELECT $1, $2 || '/' || n, '{contact_updated}', $3 FROM generate_series(1, $4::int) n RETURNING id
       ), event AS (
         INSERT INTO events (account_id, name, contact_id, account_payload)
         SELECT $1, 'contact_updated', contact.id, '{}' FROM contact, generate_series(1, $5::int) RETURNING id
       ), unplaced AS (
         INSERT INTO unplaced_events (event_id, account_id) SELECT id, $1 FROM event
       ), lane AS (
         INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
         SELECT $1, 'webhook', webhook.id, 'contact', event.id, NULL FROM webhook, event RETURNING id, endpoint_id, subject_id
       )
       INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id)
       SELECT $1, subject_id, id, 'webhook', endpoint_id FROM lane`,
      [accountId, silent.url, sealedSecret, webhooksOfTenant, backlog],
    );
  }

  // From before a contact is made until its webhook has been told.
  async function medianOfDeliveries(): Promise<number> {
    const times: number[] = [];
    for (let sample = 0; sample < samples; sample++) {
      const begun = performance.now();
      const count = receiver.received.length;
      expect((await app.post('contacts', { name: 'Customer' })).status).to.equal(201);
      while (receiver.received.length === count && performance.now() - begun < 20_000) await nextTurn();
      times.push(performance.now() - begun);
    }
    return quantile(times, 0.5);
  }

  it('leave a healthy webhook of another at most twice the time it takes in calm', async () => {
    const { body } = await app.post('webhooks', { url: receiver.url, subscriptions: ['contact_created'] });
    const [row] = await app.query<{ secret: string }>('SELECT secret FROM webhooks WHERE id = $1', [body.id]);
    await medianOfDeliveries();
    const before = await medianOfDeliveries();

    const accounts = await Promise.all(Array.from({ length: tenants }, (_, at) => addAccount(app, `Tenant ${at}`)));
    for (const { id } of accounts) await crowd(id, row!.secret);
    await app.query('UPDATE lanes SET due_at = now() WHERE account_id > 1');
    await app.query('ANALYZE lanes');
    await app.eventually(async () => silent.sockets.size >= 40);
    const beside = await medianOfDeliveries();
    // A quarter of the slots is all that they have between them, and none of the six has more than its part.
    const leased = await app.query<{ account_id: number; count: number }>(
      'SELECT account_id, count(*)::int FROM lanes WHERE lease_token IS NOT NULL GROUP BY account_id',
    );
    const counts = leased.filter(({ account_id: id }) => id !== 1).map(({ count }) => count);
    expect(counts).to.have.lengthOf(tenants);
    expect(counts.reduce((sum, count) => sum + count)).to.be.within(40, 64);
    expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(2);

    // Gone without a trace, so that what is measured last is calm again, on a machine as busy as now.
    await app.query('DELETE FROM accounts WHERE id > 1');
    silent.close();
    await app.eventually(() => Promise.resolve(app.app.engine.inFlight === 0));
    const after = await medianOfDeliveries();
    console.log(
      `      median: ${[before, beside, after].map((ms) => ms.toFixed(1)).join(', ')} ms in calm, beside, after`,
    );
    expect(beside / Math.max(before, after)).to.be.at.most(2);
  });
});
