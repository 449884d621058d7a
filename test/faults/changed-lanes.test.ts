import { expect } from 'chai';
import { Client } from 'pg';
import { finishFreeDeliveries, type Finished, type Written } from '../../src/deliveries/lanes/finish.ts';
import { hold } from '../support/lock.ts';
import { eventually } from './helpers.ts';
import { Bench, holdAttempts } from './lease-bench.ts';
import { stopClean } from './ledger.ts';

describe('results of which one finds its lane changed', function () {
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
  const write = (results: readonly Finished[]): Promise<Written[]> =>
    finishFreeDeliveries(
      async <Row>(text: string, parameters: readonly unknown[] = []) =>
        (await slow.query(text, [...parameters])).rows as Row[],
      results,
      holdAttempts,
    );
  const isStopped = async () =>
    (
      await bench.rows(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database =
      (SELECT oid FROM pg_database WHERE datname = current_database())`)
    ).length > 0;

  it('leave that one to the next statement, which sees what has come into the lane', async () => {
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
});
