import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { TestApp } from '../support/app.ts';
import { Receiver } from '../support/receiver.ts';
import { stopClean } from './ledger.ts';

// So long that nothing is found by looking.
const never = { enginePollMs: 600_000 };
// At rest an engine looks every second.
const seldom = { enginePollMs: 50 };
const restMs = 2_500;
// As long as a message of another process may take to reach the engine.
const promisedMs = 250;

describe('what another process has committed', function () {
  this.timeout(60_000);
  let web: TestApp;
  let engine: TestApp | null;
  let receiver: Receiver;
  let conversationId: number;

  beforeEach(async () => {
    web = await TestApp.start({ engine: false });
    engine = null;
    receiver = await Receiver.start();
    const inbox = (await web.post('inboxes', { name: 'Plain' })).body;
    const contact = (await web.post('contacts', { name: 'Customer' })).body;
    await web.post('webhooks', { url: receiver.url, subscriptions: ['message_created'] });
    const conversation = await web.post('conversations', { inbox_id: inbox.id, contact_id: contact.id });
    conversationId = conversation.body.id;
  });

  afterEach(async () => {
    await engine?.app.stop();
    await stopClean(web);
    await receiver.close();
  });

  const start = (config: { enginePollMs: number }) => TestApp.start({ databaseUrl: web.databaseUrl, config });

  /** An engine that looks at nothing by itself: its alarms have rung as they do at the start, and ring no more. */
  async function startWithoutAlarms(): Promise<TestApp> {
    const started = await start(never);
    const ringing = `SELECT FROM agenda_jobs WHERE last_finished_at IS NULL OR locked_at IS NOT NULL`;
    await web.eventually(async () => (await web.query(ringing)).length === 0);
    await silenceAlarms();
    return started;
  }

  const silenceAlarms = () => web.query(`UPDATE agenda_jobs SET next_run_at = now() + interval '1 hour'`);

  async function say(): Promise<void> {
    const message = { content: 'hello', message_type: 'incoming' };
    expect((await web.post(`conversations/${conversationId}/messages`, message)).status).to.equal(201);
  }

  it('is delivered and placed in the feed at once, though the engine never looks by itself', async () => {
    engine = await startWithoutAlarms();
    for (let count = 1; count <= 3; count += 1) {
      await say();
      await receiver.waitFor(count);
    }
    await web.eventually(async () => (await web.query('SELECT FROM unplaced_events')).length === 0);
  });

  it('is found when the connection that should have told of it broke, as soon as that is back', async () => {
    engine = await startWithoutAlarms();
    await say();
    await receiver.waitFor(1);
    const broken = await web.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'switchboard-wakes'`,
    );
    expect(broken).to.have.lengthOf(2);
    await say();
    await receiver.waitFor(2);
    await say();
    await receiver.waitFor(3);
  });

  it('is found by looking when nobody tells of it at all', async () => {
    engine = await start(seldom);
    await sleep(restMs);
    await writeUntold();
    await receiver.waitFor(1);
    await web.eventually(async () => (await web.query('SELECT FROM unplaced_events')).length === 0);
  });

  it('wakes the engine by one call for each message, and by nothing else', async () => {
    engine = await startWithoutAlarms();
    const calls: unknown[] = [];
    const listener = new Client({ connectionString: web.databaseUrl });
    await listener.connect();
    try {
      listener.on('notification', ({ payload = '' }) => calls.push(JSON.parse(payload)));
      await listener.query('LISTEN switchboard_wake');
      const [webhook] = await web.query<{ id: number }>('SELECT id FROM webhooks');
      const deliveries = [{ kind: 'webhook', id: webhook?.id, accountId: 1 }];
      const call = { events: true, plugins: false, deliveries };
      await writeUntold();
      await sleep(promisedMs);
      expect(receiver.received).to.deep.equal([]);
      await web.query('SELECT pg_notify($1, $2)', ['switchboard_wake', JSON.stringify(call)]);
      await receiver.waitFor(1);
      for (let count = 2; count <= 4; count += 1) {
        await say();
        await receiver.waitFor(count);
        await web.eventually(async () => calls.length >= count);
        expect(calls).to.deep.equal(Array.from({ length: count }, () => call));
      }
      await web.eventually(async () => (await web.query('SELECT FROM unplaced_events')).length === 0);
    } finally {
      await listener.end();
    }
  });

  async function writeUntold(): Promise<void> {
    await web.query(
      `WITH numbered AS (UPDATE conversations SET event_sequence = event_sequence + 1 WHERE id = $1 RETURNING event_sequence),
       event AS (INSERT INTO events (account_id, name, conversation_id, sequence, account_payload)
         SELECT 1, 'message_created', $1, event_sequence, '{}' FROM numbered RETURNING id),
       unplaced AS (INSERT INTO unplaced_events (event_id, account_id) SELECT id, 1 FROM event),
       lane AS (INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
         SELECT 1, 'webhook', id, 'conversation', $1, now() FROM webhooks RETURNING id, endpoint_id)
       INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id)
       SELECT 1, event.id, lane.id, 'webhook', lane.endpoint_id FROM event, lane`,
      [conversationId],
    );
  }

  it('is tried again in time by a process that knows of the retry from its alarm only', async () => {
    receiver.answerWith((_, response) => void response.writeHead(500).end());
    const maker = await start(never);
    await say();
    await receiver.waitFor(1);
    receiver.answerWith((_, response) => response.end());
    await web.eventually(async () => (await retries()).length > 0);
    await maker.app.stop();
    // While it starts it sees a retry that is far away; the moment of the alarm comes when it has looked at everything.
    await web.query(`UPDATE lanes SET due_at = due_at + interval '10 minutes'`);
    await silenceAlarms();
    engine = await start(never);
    // It has looked when it has set an alarm of its own.
    await web.eventually(async () => (await retries()).length > 1);
    await web.query(`UPDATE lanes SET due_at = now()`);
    await web.query(`UPDATE agenda_jobs SET next_run_at = now() WHERE name = 'retry-deliveries-once'`);
    await receiver.waitFor(2);
  });

  it('is tried again in time though the alarm of the retry is lost', async () => {
    receiver.answerWith((_, response) => void response.writeHead(500).end());
    engine = await start(never);
    await say();
    await receiver.waitFor(1);
    receiver.answerWith((_, response) => response.end());
    await web.eventually(async () => (await retries()).length > 0);
    await web.query('TRUNCATE agenda_jobs');
    // Less than what passes between two rings of the alarm for all retries.
    await receiver.waitFor(2, 45_000);
  });

  const retries = () => web.query(`SELECT FROM agenda_jobs WHERE name = 'retry-deliveries-once'`);
});
