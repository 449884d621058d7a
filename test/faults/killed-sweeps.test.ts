import { expect } from 'chai';
import { migrate } from '../../src/postgres/migrate.ts';
import { batch, bulkOf } from '../support/bulk-actions.ts';
import { hold } from '../support/lock.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { eventually, rowsOf } from './helpers.ts';
import { expectLedger, settled } from './ledger.ts';
import { Sink } from './sink.ts';

// Longer than a batch is held up here.
const env = { LOCK_TIMEOUT_MS: '60000', STATEMENT_TIMEOUT_MS: '120000', SANDBOX_RUNNERS: '1' };
const settleMs = 120_000;
// Two whole batches, and a part of one.
const many = 2 * batch + 50;
const atOnce = 10;

describe('a service that is killed in the middle of a batch', function () {
  this.timeout(400_000);
  let url: string;
  let sink: Sink;
  let service: ServiceProcess;

  beforeEach(async () => {
    url = await createDatabase(migrate);
    sink = await Sink.start();
    service = await ServiceProcess.start({ databaseUrl: url, env });
  });

  afterEach(async () => {
    await killServices();
    await sink.close();
    await dropDatabase(url);
  });

  const subscribed = async (...subscriptions: string[]): Promise<number> =>
    (await service.post('webhooks', { url: sink.url, subscriptions })).body.id as number;
  const close = () => hold(url, 'SELECT pg_advisory_xact_lock(1)');
  const stopped = async (): Promise<{ pid: number }[]> =>
    rowsOf(
      url,
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );

  /** Has every statement of this kind stop at a gate as long as that is closed, once the condition holds. */
  async function buildGate(statement: string, condition: string): Promise<void> {
    await rowsOf(
      url,
      `CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF ${condition} THEN PERFORM pg_advisory_xact_lock_shared(1); END IF; RETURN NULL; END $$`,
    );
    await rowsOf(url, `CREATE TRIGGER gate AFTER ${statement} FOR EACH STATEMENT EXECUTE FUNCTION gate()`);
  }

  /** Kills the service in a batch that has stopped at the gate, when nothing else is under way. */
  async function killAtGate(open: () => Promise<void>): Promise<void> {
    const [{ pid } = { pid: 0 }] = await eventually(async () => {
      const found = await stopped();
      return found.length > 0 && found;
    }, settleMs);
    // A delivery that is under way in that moment may arrive twice, which other tests are about.
    await settled(url, settleMs);
    expect(await service.kill()).to.include({ signal: 'SIGKILL' });
    await open();
    // Its connection goes on until it finds nobody at the other end.
    await eventually(
      async () => (await rowsOf(url, 'SELECT FROM pg_stat_activity WHERE pid = $1', [pid])).length === 0,
    );
  }

  it('resends each delivery of a bulk action once, after two restarts', async () => {
    const webhook = await subscribed('contact_updated');
    await giveUp(webhook);
    await buildGate('INSERT ON deliveries', `(SELECT count(*) FROM deliveries WHERE trigger = 'resend') > ${batch}`);
    let open = await close();
    const begun = await service.post(bulkOf({ id: webhook }), { action: 'resend', filter: { state: 'exhausted' } });
    expect([begun.status, begun.body.count, begun.body.state]).to.deep.equal([202, many, 'running']);
    const progress = async () => (await service.get(`${bulkOf({ id: webhook })}/${begun.body.id}`)).body;
    for (let kill = 1; kill <= 2; kill += 1) {
      await killAtGate(open);
      open = await close();
      service = await ServiceProcess.start({ databaseUrl: url, env });
      expect(await progress()).to.include({ state: 'running', done: batch, failed: 0 });
    }
    await open();
    const over = await eventually(async () => {
      const found = await progress();
      return found.state !== 'running' && found;
    }, settleMs);
    expect(over).to.include({ state: 'done', count: many, done: many, failed: 0 });
    await settled(url, settleMs);

    const [made] = await rowsOf(
      url,
      `SELECT count(*)::int AS resent, count(DISTINCT event_id)::int AS events FROM deliveries
       WHERE trigger = 'resend' AND state = 'delivered' AND attempt = 1`,
    );
    expect(made).to.deep.equal({ resent: many, events: many });
    expect(sink.log).to.have.lengthOf(many);
    expect(new Set(sink.log.map(({ webhookId }) => webhookId)).size).to.equal(many);
    expect(await service.stop()).to.deep.equal({ code: 0, signal: null });
    await expectLedger(url);
  });

  /** Deliveries that were given up, in fifty lanes; each of an event of its own. */
  async function giveUp(webhook: number): Promise<void> {
    await rowsOf(
      url,
      `WITH contact AS (
         INSERT INTO contacts (account_id, name) SELECT 1, 'Contact ' || g FROM generate_series(1, 50) g RETURNING id
       ), lane AS (
         INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id)
         SELECT 1, 'webhook', $1, 'contact', id FROM contact RETURNING id, subject_id
       ), numbered AS (SELECT *, row_number() OVER (ORDER BY id) AS number FROM lane
       ), event AS (
         INSERT INTO events (account_id, name, contact_id, account_payload)
         SELECT 1, 'contact_updated', n.subject_id, json_build_object('event', 'contact_updated', 'lane', n.id)
         FROM generate_series(1, $2::int) g JOIN numbered n ON n.number = 1 + g % 50 RETURNING id, contact_id
       ), unplaced AS (INSERT INTO unplaced_events (event_id, account_id) SELECT id, 1 FROM event)
       INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, finished_at)
       SELECT 1, e.id, lane.id, 'webhook', $1, 'exhausted', now() FROM event e JOIN lane ON lane.subject_id = e.contact_id`,
      [webhook, many],
    );
  }

  it('deletes a contact with many conversations to its end, and says so once, after two restarts', async () => {
    await subscribed('conversation_deleted', 'contact_deleted');
    const { id: inbox } = (await service.post('inboxes', { name: 'Plain' })).body;
    const { id: contact } = (await service.post('contacts', { name: 'Customer' })).body;
    let begun = 0;
    const begin = async (): Promise<void> => {
      while (begun < many) {
        begun += 1;
        const { status } = await service.post('conversations', { inbox_id: inbox, contact_id: contact });
        expect(status).to.equal(201);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, begin));
    await buildGate('DELETE ON conversations', `(SELECT count(*) FROM conversations) < ${many - batch}`);
    let open = await close();
    const asking = service.call('DELETE', `contacts/${contact}`).catch(() => 'no answer');
    for (let kill = 1; kill <= 2; kill += 1) {
      await killAtGate(open);
      open = await close();
      service = await ServiceProcess.start({ databaseUrl: url, env });
      const { body } = await service.get(`contacts/${contact}/conversations`);
      expect(body.meta.count).to.equal(many - batch);
      expect((await service.get(`contacts/${contact}`)).body.deletion_requested_at).to.be.a('number');
      // The time after which the process that was at it counts as dead.
      await rowsOf(url, `UPDATE contacts SET deletion_beat_at = now() - interval '1 minute'`);
    }
    expect(await asking).to.equal('no answer');
    await open();
    await eventually(async () => (await service.get(`contacts/${contact}`)).status === 404, settleMs);
    await settled(url, settleMs);

    const said = await rowsOf(
      url,
      `SELECT name, count(*)::int, count(DISTINCT account_payload ->> 'id')::int AS records FROM events
       WHERE name IN ('conversation_deleted', 'contact_deleted') GROUP BY name ORDER BY name`,
    );
    expect(said).to.deep.equal([
      { name: 'contact_deleted', count: 1, records: 1 },
      { name: 'conversation_deleted', count: many, records: many },
    ]);
    expect(sink.log).to.have.lengthOf(many + 1);
    expect(sink.log.filter(({ body }) => body.event === 'contact_deleted')).to.have.lengthOf(1);
    expect(await rowsOf(url, 'SELECT FROM conversations')).to.deep.equal([]);
    expect(await service.stop()).to.deep.equal({ code: 0, signal: null });
    await expectLedger(url);
  });
});
