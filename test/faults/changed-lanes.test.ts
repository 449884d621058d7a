import { expect } from 'chai';
import { Client } from 'pg';
import { cancelBacklog, workOnBacklog } from '../../src/deliveries/copies/backlogs.ts';
import { finishFreeDeliveries, type Finished, type Written } from '../../src/deliveries/lanes/finish.ts';
import type { Sql } from '../../src/postgres/sql.ts';
import { hold } from '../support/lock.ts';
import { eventually } from './helpers.ts';
import { Bench, holdAttempts } from './lease-bench.ts';
import { stopClean } from './ledger.ts';

describe('a lane that changes behind the snapshot of a statement', function () {
  this.timeout(60_000);
  let bench: Bench;
  let slow: Client;
  let contacts: number[];

  before(async () => {
    bench = await Bench.start();
    await bench.app.post('webhooks', { url: 'http://127.0.0.1:9/hook', subscriptions: ['contact_updated'] });
    const answers = [
      await bench.app.post('contacts', { name: 'Ada' }),
      await bench.app.post('contacts', { name: 'Bob' }),
    ];
    contacts = answers.map(({ body }) => body.id as number);
    // For this connection, each statement stops at its first lane while somebody has the lock.
    await bench.rows('CREATE SCHEMA slow');
    await bench.rows(`CREATE FUNCTION slow.pass() RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN true; END $$`);
    await bench.rows('CREATE VIEW slow.lanes AS SELECT ctid, * FROM public.lanes WHERE slow.pass()');
    slow = new Client({ connectionString: bench.app.databaseUrl, options: '-c search_path=slow,public' });
    await slow.connect();
  });

  after(async () => {
    await slow.end();
    await stopClean(bench.app);
  });

  const change = (contact: number | undefined, name: string) => bench.app.patch(`contacts/${contact}`, { name });
  const onSlow: Sql = async <Row>(text: string, parameters: readonly unknown[] = []) =>
    (await slow.query(text, [...parameters])).rows as Row[];
  const write = (results: readonly Finished[]): Promise<Written[]> =>
    finishFreeDeliveries(onSlow, results, holdAttempts);
  const isStopped = async () =>
    (
      await bench.rows(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database =
      (SELECT oid FROM pg_database WHERE datname = current_database())`)
    ).length > 0;

  it('is left by results to the next statement, which sees what has come into the lane', async () => {
    for (const contact of contacts) await change(contact, 'First');
    const claimed = await bench.claim();
    expect(claimed).to.have.lengthOf(2);
    const [row] = await bench.rows(`SELECT id FROM lanes WHERE subject_kind = 'contact' AND subject_id = $1`, [
      contacts[0],
    ]);
    const changed = claimed.find(({ laneId }) => laneId === Number(row?.id))!;
    const other = claimed.find(({ laneId }) => laneId !== changed.laneId)!;

    const goOn = await hold(bench.app.databaseUrl, 'SELECT pg_advisory_xact_lock(1)', []);
    const writing = write([changed, other].map((one) => bench.resultOf(one)));
    await eventually(isStopped);
    // The statement has its snapshot, and no lane yet.
    await change(contacts[0], 'Second');
    await goOn();
    const released = {
      laneId: other.laneId,
      token: other.token,
      deliveryId: other.deliveryId,
      isReleased: true,
      isDue: false,
    };
    const left = { laneId: changed.laneId, token: changed.token, deliveryId: null, isReleased: false, isDue: false };
    expect(await writing).to.have.deep.members([released, left]);
    const states = () =>
      bench.rows('SELECT state, lease_token IS NOT NULL AS is_claimed FROM deliveries WHERE lane_id = $1 ORDER BY id', [
        changed.laneId,
      ]);
    const waiting = { state: 'pending', is_claimed: false };
    expect(await states()).to.deep.equal([{ state: 'pending', is_claimed: true }, waiting]);

    expect(await write([bench.resultOf(changed)])).to.deep.equal([
      { laneId: changed.laneId, token: changed.token, deliveryId: changed.deliveryId, isReleased: true, isDue: true },
    ]);
    expect(await states()).to.deep.equal([{ state: 'delivered', is_claimed: false }, waiting]);
    expect((await bench.claim()).map(({ laneId }) => laneId)).to.deep.equal([changed.laneId]);
  });

  it('is known to be due again for what came after the clock of the transaction that writes its result', async () => {
    await change(contacts[1], 'Answered');
    const claimed = await bench.claim();
    const due = await bench.transaction(async (sql) => {
      // The time of a transaction is that of its begin, however late its statements come.
      await sql('SELECT now()');
      await change(contacts[1], 'Meanwhile');
      return finishFreeDeliveries(
        sql,
        claimed.map((one) => bench.resultOf(one)),
        holdAttempts,
      );
    });
    expect(due.map(({ isReleased, isDue }) => ({ isReleased, isDue }))).to.deep.equal([
      { isReleased: true, isDue: true },
    ]);
    expect((await bench.claim()).map(({ laneId }) => laneId)).to.deep.equal(claimed.map(({ laneId }) => laneId));
  });

  it('is due for what has come into it while what was before is cancelled', async () => {
    const { body: webhook } = await bench.app.post('webhooks', {
      url: 'http://127.0.0.1:9/hook',
      subscriptions: ['contact_updated'],
    });
    await change(contacts[1], 'Cancelled');
    const ours = (rest: string) =>
      bench.rows(`SELECT ${rest} WHERE endpoint_kind = 'webhook' AND endpoint_id = $1 ORDER BY id`, [webhook.id]);
    // As where the engine has the lane: the task is left to the sweep.
    await bench.rows('UPDATE lanes SET lease_token = gen_random_uuid() WHERE endpoint_id = $1', [webhook.id]);
    await bench.transaction((sql) =>
      cancelBacklog({ sql, account: { id: 1 } }, { kind: 'webhook', id: webhook.id }, 'cancelled_on_request', {
        kind: 'person',
      }),
    );
    await bench.rows('UPDATE lanes SET lease_token = NULL WHERE endpoint_id = $1', [webhook.id]);
    const [task] = await ours('id FROM backlog_tasks');

    const goOn = await hold(bench.app.databaseUrl, 'SELECT pg_advisory_xact_lock(1)', []);
    await slow.query('BEGIN');
    const cancelling = workOnBacklog(onSlow, Number(task?.id));
    await eventually(isStopped);
    // The statement has its snapshot, and no lane yet.
    await change(contacts[1], 'Kept');
    await goOn();
    await cancelling;
    await slow.query('COMMIT');

    expect(await ours('state FROM deliveries')).to.deep.equal([{ state: 'cancelled' }, { state: 'pending' }]);
    expect(await ours('due_at <= now() AS is_due FROM lanes')).to.deep.equal([{ is_due: true }]);
    expect(await ours('id FROM backlog_tasks')).to.deep.equal([]);
  });
});
