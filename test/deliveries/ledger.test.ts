import { expect } from 'chai';
import type { Ledger } from '../../src/deliveries/log/ledger.ts';
import { deleteOldEvents } from '../../src/domain/upkeep/retention.ts';
import { TestApp } from '../support/app.ts';
import { Receiver } from '../support/receiver.ts';
import { rowsOf } from '../faults/helpers.ts';
import { expectLedger } from '../faults/ledger.ts';
import { damages } from './damages.ts';

describe('the ledger', function () {
  this.timeout(60_000);
  let app: TestApp;
  let receiver: Receiver;
  let conversation: number;
  let paused: number;

  const ledger = async () => {
    const { status, body } = await app.get('/platform/api/v1/ledger');
    expect(status).to.equal(200);
    return body as Ledger;
  };
  const broken = async () => (await ledger()).invariants.filter(({ violations }) => violations > 0).map(({ id }) => id);
  const settled = () =>
    app.eventually(
      async () =>
        (await app.query(`SELECT FROM deliveries WHERE state = 'pending' AND endpoint_id <> $1`, [paused])).length ===
        0,
    );

  before(async () => {
    app = await TestApp.start();
    receiver = await Receiver.start();
    await app.post('agent_bots', { name: 'Helper', outgoing_url: 'https://127.0.0.1:9/' });
    const inbox = (await app.post('inboxes', { name: 'Plain' })).body.id as number;
    const contact = (await app.post('contacts', { name: 'Customer' })).body.id as number;
    // The webhook of the delivery that waits is paused.
    paused = (await app.post('webhooks', { url: receiver.url, subscriptions: ['contact_updated'] })).body.id;
    await app.post(`webhooks/${paused}/pause`);
    await app.patch(`contacts/${contact}`, { name: 'Renamed' });
    // Subscribed to more, then to less, off and on: each event is judged by its moment.
    const subscriptions = ['message_created', 'conversation_created', 'conversation_status_changed', 'contact_created'];
    const webhook = (await app.post('webhooks', { url: receiver.url, subscriptions })).body.id as number;
    const gone = (await app.post('webhooks', { url: receiver.url, subscriptions })).body.id as number;
    conversation = (await app.post('conversations', { inbox_id: inbox, contact_id: contact })).body.id;
    const say = (content: string) =>
      app.post(`conversations/${conversation}/messages`, { content, message_type: 'incoming' });
    // One attempt fails, and the next does not.
    receiver.answerWith((_, response) => response.writeHead(receiver.received.length > 1 ? 200 : 500).end());
    await say('opening hours?');
    await settled();
    await app.patch(`webhooks/${webhook}`, { subscriptions: ['contact_created'] });
    await say('nobody is told');
    await app.patch(`webhooks/${webhook}`, { subscriptions, inbox_id: inbox });
    await say('told again');
    await app.patch(`webhooks/${webhook}`, { active: false });
    await say('nobody is told again');
    await app.patch(`webhooks/${webhook}`, { active: true, inbox_id: null });
    await app.delete(`webhooks/${gone}`);
    await app.post(`conversations/${conversation}/toggle_status`, { status: 'resolved' });
    await app.post(`conversations/${conversation}/toggle_status`, { status: 'open' });
    await app.post('contacts', { name: 'Another' });
    const { id: agent } = (await app.get('/api/v1/profile')).body;
    await app.post(`conversations/${conversation}/assignments`, { assignee_id: agent });
    await settled();
    await app.eventually(async () => (await app.query('SELECT FROM unplaced_events')).length === 0);
  });

  after(async () => {
    await receiver.close();
    await app.stop();
  });

  it('holds after ordinary work', async () => {
    const { ok, invariants } = await ledger();
    expect(invariants.filter(({ violations }) => violations > 0)).to.deep.equal([]);
    expect(ok).to.equal(true);
    expect(invariants.map(({ id }) => id)).to.deep.equal([
      'L1',
      'L2',
      'L3',
      'L4',
      'L5',
      'L6',
      'L7',
      'L8',
      'L9',
      'L10',
      'L11',
      'L12',
      'L13',
    ]);
    await expectLedger(app.databaseUrl);
  });

  for (const [title, spoil, mend, found] of damages) {
    it(`finds ${title}`, async () => {
      await run(spoil);
      try {
        const { ok, invariants } = await ledger();
        expect(ok).to.equal(false);
        const told = invariants.filter(({ violations }) => violations > 0);
        expect(told.map(({ id }) => id)).to.deep.equal(found);
        for (const { sample } of told) expect(sample[0]).to.include({ account_id: 1 });
      } finally {
        await run(mend);
      }
      expect(await broken()).to.deep.equal([]);
    });
  }

  async function run(statements: string): Promise<void> {
    // On a connection without a timeout: what was spoilt must be mended, however busy the machine is.
    for (const statement of statements.split(';')) await rowsOf(app.databaseUrl, statement);
  }

  it('is told step by step, too', async () => {
    const whole = await ledger();
    expect(whole.steps).to.equal(whole.invariants.length);
    const step = (number: number) => app.get(`/platform/api/v1/ledger?step=${number}`);
    const told = await Promise.all(whole.invariants.map((_, index) => step(index + 1)));
    expect(told.map(({ body }) => body)).to.deep.equal(
      whole.invariants.map((one) => ({ ok: true, steps: whole.steps, invariants: [one] })),
    );
    const beyond = await step(whole.steps + 1);
    expect([beyond.status, beyond.body.details[0].path]).to.deep.equal([422, '/step']);
    expect((await step(0)).status).to.equal(400);
  });

  it('forgives what was deleted for its age', async () => {
    await app.query(
      `UPDATE events SET created_at = now() - interval '40 days' WHERE id < (SELECT max(id) FROM events WHERE conversation_id = $1)`,
      [conversation],
    );
    await app.query(`UPDATE deliveries SET finished_at = now() - interval '40 days' WHERE finished_at IS NOT NULL`);
    await app.eventually(async () => (await app.query('SELECT FROM unplaced_events')).length === 0);
    expect(await deleteOldEvents(app.app.database, 30)).to.be.greaterThan(5);
    expect((await ledger()).invariants.filter(({ violations }) => violations > 0)).to.deep.equal([]);
  });
});
