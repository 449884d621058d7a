import { expect } from 'chai';
import type { Ledger } from '../../src/deliveries/log/ledger.ts';
import { TestApp } from '../support/app.ts';

// Deliveries that are due while no engine runs are found, and those that may not be sent are not mistaken for them.
describe('the ledger beside a process that sends nothing', function () {
  this.timeout(60_000);
  let app: TestApp;
  let webhook: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    const { body } = await app.post('webhooks', { url: 'http://127.0.0.1:9/', subscriptions: ['contact_created'] });
    webhook = body.id as number;
    await app.post('contacts', { name: 'Customer' });
    // Placed by hand, since no engine does.
    await app.query(
      `INSERT INTO event_feed (account_id, position, event_id) SELECT 1, row_number() OVER (ORDER BY id), id FROM events`,
    );
    await app.query('INSERT INTO event_feed_heads (account_id, position) SELECT 1, count(*) FROM events');
  });

  after(() => app.stop());

  const broken = async () => {
    const { body } = await app.get('/platform/api/v1/ledger');
    return (body as Ledger).invariants.filter(({ violations }) => violations > 0).map(({ id }) => id);
  };
  const dueFor = (seconds: number) =>
    app.query('UPDATE lanes SET due_at = now() - make_interval(secs => $1)', [seconds]);
  const set = (columns: string) => app.query(`UPDATE webhooks SET ${columns} WHERE id = $1`, [webhook]);

  it('forgives a moment, and finds what has been due for longer than a minute', async () => {
    await dueFor(30);
    expect(await broken()).to.deep.equal([]);
    await dueFor(90);
    expect(await broken()).to.deep.equal(['L2']);
  });

  it('finds nothing that a pause, an open circuit or a resume holds back', async () => {
    await dueFor(86_400);
    const held: [string, string[]][] = [
      ['paused_at = now()', []],
      ['paused_at = NULL, resumed_at = now()', []],
      [`resumed_at = now() - interval '2 minutes'`, ['L2']],
      [`circuit_probe_at = now() + interval '5 minutes'`, []],
      [`circuit_probe_at = now() - interval '5 seconds'`, []],
      [`circuit_probe_at = now() - interval '2 minutes'`, ['L2']],
    ];
    for (const [columns, found] of held) {
      await set(columns);
      expect(await broken(), columns).to.deep.equal(found);
    }
  });

  it('finds nothing while an engine is at work, however long the queue is', async () => {
    await set('circuit_probe_at = NULL, resumed_at = NULL');
    await dueFor(86_400);
    await app.query(
      `INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at, lease_token)
      VALUES (1, 'webhook', $1, 'contact', 999, now() + interval '20 seconds', gen_random_uuid())`,
      [webhook],
    );
    expect(await broken()).to.deep.equal([]);
    await app.query(`UPDATE lanes SET due_at = now() - interval '1 second' WHERE lease_token IS NOT NULL`);
    expect(await broken()).to.deep.equal(['L2']);
  });
});
