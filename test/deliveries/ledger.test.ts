import { expect } from 'chai';
import type { Ledger } from '../../src/deliveries/log/ledger.ts';
import { deleteOldEvents } from '../../src/domain/upkeep/retention.ts';
import { TestApp } from '../support/app.ts';
import { Receiver } from '../support/receiver.ts';
import { rowsOf } from '../faults/helpers.ts';
import { expectLedger } from '../faults/ledger.ts';

/** What somebody, or a defect, might do to the rows: how, how it is undone, and which invariants tell. */
const planted: [string, string, string, string[]][] = [
  [
    'a delivery that is lost',
    `CREATE TABLE kept AS SELECT * FROM deliveries WHERE id = (SELECT max(id) FROM deliveries WHERE endpoint_kind = 'webhook');
     CREATE TABLE kept_attempts AS SELECT * FROM attempts WHERE delivery_id IN (SELECT id FROM kept);
     DELETE FROM deliveries WHERE id IN (SELECT id FROM kept)`,
    `INSERT INTO deliveries SELECT * FROM kept; INSERT INTO attempts SELECT * FROM kept_attempts; DROP TABLE kept, kept_attempts`,
    ['L1'],
  ],
  [
    'a delivery to who was not subscribed',
    `UPDATE events SET webhook_epoch = -1 WHERE id = (SELECT max(event_id) FROM deliveries WHERE endpoint_kind = 'webhook')`,
    `UPDATE events SET webhook_epoch = (SELECT max(epoch) FROM webhook_epochs WHERE account_id = 1) WHERE webhook_epoch = -1`,
    ['L1'],
  ],
  [
    'an event that was written without its deliveries',
    `INSERT INTO events (account_id, name, account_payload) VALUES (1, 'contact_created', '{}')`,
    `DELETE FROM events WHERE account_id = 1 AND name = 'contact_created' AND account_payload::text = '{}'`,
    ['L1'],
  ],
  [
    'a delivery that nobody will make',
    `UPDATE deliveries SET state = 'pending', finished_at = NULL WHERE id = (SELECT max(id) FROM deliveries)`,
    `UPDATE deliveries SET state = 'delivered', finished_at = now() WHERE id = (SELECT max(id) FROM deliveries)`,
    ['L2', 'L3'],
  ],
  [
    'a success without an answer',
    `UPDATE attempts SET outcome = 'failed' WHERE id = (SELECT max(id) FROM attempts)`,
    `UPDATE attempts SET outcome = 'delivered' WHERE id = (SELECT max(id) FROM attempts)`,
    ['L3'],
  ],
  [
    'a delivery that was answered twice',
    `INSERT INTO attempts (account_id, delivery_id, number, outcome) SELECT 1, id, attempt + 1, 'delivered'
     FROM deliveries ORDER BY id DESC LIMIT 1;
     UPDATE deliveries SET attempt = attempt + 1 WHERE id = (SELECT max(id) FROM deliveries)`,
    `DELETE FROM attempts WHERE id = (SELECT max(id) FROM attempts);
     UPDATE deliveries SET attempt = attempt - 1 WHERE id = (SELECT max(id) FROM deliveries)`,
    ['L3'],
  ],
  [
    'a delivery that has ended and is still leased',
    `UPDATE deliveries SET lease_token = gen_random_uuid(), attempt = attempt + 1 WHERE id = (SELECT max(id) FROM deliveries)`,
    `UPDATE deliveries SET lease_token = NULL, attempt = attempt - 1 WHERE id = (SELECT max(id) FROM deliveries)`,
    ['L2'],
  ],
  [
    'an event that is missing at the end of its conversation',
    `UPDATE conversations SET event_sequence = event_sequence + 1 WHERE id = (SELECT max(id) FROM conversations)`,
    `UPDATE conversations SET event_sequence = event_sequence - 1 WHERE id = (SELECT max(id) FROM conversations)`,
    ['L4'],
  ],
  [
    'an event that is missing in the middle of its conversation',
    `UPDATE events SET sequence = sequence + 1000 WHERE id = (
       SELECT max(id) FROM events WHERE conversation_id IS NOT NULL AND name = 'message_created')`,
    `UPDATE events SET sequence = sequence - 1000 WHERE sequence > 1000`,
    ['L4'],
  ],
  [
    'a delivery before an earlier one of its lane',
    `UPDATE deliveries SET finished_at = finished_at + interval '1 hour' WHERE id = (
       SELECT min(d.id) FROM deliveries d JOIN lanes l ON l.id = d.lane_id WHERE l.subject_kind = 'conversation' AND d.failures = 0
         AND d.state = 'delivered')`,
    `UPDATE deliveries SET finished_at = finished_at - interval '1 hour' WHERE finished_at > now() + interval '30 minutes'`,
    ['L4'],
  ],
  [
    'an attempt that nobody wrote down',
    `UPDATE deliveries SET attempt = attempt + 1 WHERE id = (SELECT max(id) FROM deliveries)`,
    `UPDATE deliveries SET attempt = attempt - 1 WHERE id = (SELECT max(id) FROM deliveries)`,
    ['L5'],
  ],
  [
    'a snooze that ended twice',
    `UPDATE events SET account_payload = jsonb_set(account_payload::jsonb, '{changed_attributes,status,previous}', '"snoozed"')::json
     WHERE id = (SELECT max(id) FROM events WHERE name = 'conversation_status_changed')`,
    `UPDATE events SET account_payload = jsonb_set(account_payload::jsonb, '{changed_attributes,status,previous}', '"resolved"')::json
     WHERE id = (SELECT max(id) FROM events WHERE name = 'conversation_status_changed')`,
    ['L7'],
  ],
  [
    'an attempt that is missing',
    'UPDATE attempts SET number = number + 7 WHERE id = (SELECT max(id) FROM attempts)',
    'UPDATE attempts SET number = number - 7 WHERE id = (SELECT max(id) FROM attempts)',
    ['L5'],
  ],
  [
    'a count that is wrong',
    `INSERT INTO conversation_count_changes (account_id, status, inbox_id, total, assigned) SELECT 1, 'open', min(id), 1, 0 FROM inboxes`,
    `INSERT INTO conversation_count_changes (account_id, status, inbox_id, total, assigned) SELECT 1, 'open', min(id), -1, 0 FROM inboxes`,
    ['L6'],
  ],
  [
    'a status that changed and nobody was told',
    `UPDATE conversations SET status = 'resolved' WHERE id = (SELECT max(id) FROM conversations)`,
    `UPDATE conversations SET status = 'open' WHERE id = (SELECT max(id) FROM conversations)`,
    ['L7'],
  ],
  [
    'a bot that acted twice on an event',
    `INSERT INTO bot_runs (account_id, conversation_id, agent_bot_id, event_id, attempt, plugin_id, plugin_version, bundle_hash,
       config, seed, clock, outcome, actions, logs, wall_ms)
     SELECT e.account_id, e.conversation_id, b.id, e.id, n, 'x', '1', '', '{}', 1, now(), 'ok', '[]', '[]', 1
     FROM (SELECT * FROM events WHERE conversation_id IS NOT NULL ORDER BY id LIMIT 1) e, generate_series(1, 2) n,
       (SELECT * FROM agent_bots WHERE account_id = 1 ORDER BY id LIMIT 1) b`,
    `DELETE FROM bot_runs WHERE plugin_id = 'x'`,
    ['L8'],
  ],
  [
    'an event that names a bot of another account',
    `INSERT INTO accounts (id, name) VALUES (77, 'Other');
     INSERT INTO agent_bots (id, account_id, name, kind, outgoing_url, secret, events)
       VALUES (777, 77, 'Foreign', 'webhook', 'https://bot.example.com/', 'sealed', '{}');
     UPDATE events SET bot_id = 777 WHERE id = (SELECT min(id) FROM events)`,
    `UPDATE events SET bot_id = NULL WHERE bot_id = 777; DELETE FROM accounts WHERE id = 77`,
    ['L9'],
  ],
  [
    'deliveries to a webhook of another account',
    `INSERT INTO accounts (id, name) VALUES (78, 'Other'); UPDATE webhooks SET account_id = 78`,
    `UPDATE webhooks SET account_id = 1; DELETE FROM accounts WHERE id = 78`,
    ['L9'],
  ],
];

describe('the ledger', function () {
  this.timeout(60_000);
  let app: TestApp;
  let receiver: Receiver;
  let conversation: number;

  const ledger = async () => {
    const { status, body } = await app.get('/platform/api/v1/ledger');
    expect(status).to.equal(200);
    return body as Ledger;
  };
  const broken = async () => (await ledger()).invariants.filter(({ violations }) => violations > 0).map(({ id }) => id);
  const settled = () =>
    app.eventually(async () => (await app.query(`SELECT FROM deliveries WHERE state = 'pending'`)).length === 0);

  before(async () => {
    app = await TestApp.start();
    receiver = await Receiver.start();
    await app.post('agent_bots', { name: 'Helper', outgoing_url: 'https://127.0.0.1:9/' });
    const inbox = (await app.post('inboxes', { name: 'Plain' })).body.id as number;
    const contact = (await app.post('contacts', { name: 'Customer' })).body.id as number;
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
    await settled();
  });

  after(async () => {
    await receiver.close();
    await app.stop();
  });

  it('holds after ordinary work', async () => {
    const { ok, invariants } = await ledger();
    expect(invariants.filter(({ violations }) => violations > 0)).to.deep.equal([]);
    expect(ok).to.equal(true);
    expect(invariants.map(({ id }) => id)).to.deep.equal(['L1', 'L2', 'L3', 'L4', 'L5', 'L6', 'L7', 'L8', 'L9']);
    await expectLedger(app.databaseUrl);
  });

  for (const [title, spoil, mend, found] of planted) {
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
