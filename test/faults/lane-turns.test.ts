import { expect } from 'chai';
import { openGate } from '../../src/lib/outbound-gate.ts';
import type { Deliver } from '../../src/engine/attempt.ts';
import { FinishBatch } from '../../src/engine/finish-batch.ts';
import { Engine } from '../../src/engine/engine.ts';
import { finishAndGoOn } from '../../src/deliveries/lanes/finish.ts';
import { claiming, type Claimed } from '../../src/deliveries/lanes/claim.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { StatementLog } from '../support/statement-log.ts';
import { eventually } from './helpers.ts';
import { Bench, holdAttempts, noBot } from './lease-bench.ts';
import { stopClean } from './ledger.ts';

function engineOf(bench: Bench, webhook: Deliver, slots: number): Engine {
  return new Engine({
    database: bench.app.app.database,
    gate: openGate,
    random: systemRandom,
    deliver: { webhook, bot: noBot, automation: noBot, channel: noBot },
    inFlight: { webhook: slots, bot: 1, automation: 1, channel: 1 },
    endpointInFlight: slots,
    resent: { inFlight: 1, endpointInFlight: 1 },
    leaseSeconds: 30,
    holdAttempts,
    pollMs: 20,
    failed: (error) => {
      throw error;
    },
  });
}

describe('the turn of a lane', function () {
  this.timeout(60_000);
  let bench: Bench;
  /** Rows were put back by hand, so that the ledger has something to say. */
  let isForged = false;
  let log: StatementLog;

  before(() => {
    log = new StatementLog();
  });

  after(() => log.close());

  beforeEach(async () => {
    isForged = false;
    bench = await Bench.start();
  });

  afterEach(() => (isForged ? bench.app.stop() : stopClean(bench.app)));

  async function proven(): Promise<number> {
    const id = await bench.webhook();
    await bench.rows('UPDATE webhooks SET is_proven = true WHERE id = $1', [id]);
    return id;
  }

  /** Lets an engine make all that is pending; answers the deliveries in the order in which they began. */
  async function made(slots: number, outcome: 'delivered' | 'failed' = 'delivered'): Promise<Claimed[]> {
    const begun: Claimed[] = [];
    const deliver: Deliver = async (claimed) => {
      begun.push(claimed);
      const finished = bench.resultOf(claimed);
      return { finished, outcome, isAsKnown: outcome === 'delivered' };
    };
    const engine = engineOf(bench, deliver, slots);
    engine.start();
    try {
      await eventually(async () => (await pending()) === 0);
    } finally {
      await engine.stop();
    }
    return begun;
  }

  const pending = async (): Promise<number> =>
    (await bench.rows(`SELECT FROM deliveries WHERE state = 'pending'`)).length;
  const goOn = async (claimed: Claimed) => {
    const [written] = await finishAndGoOn(bench.sql, [{ ...bench.resultOf(claimed), goesOn: true }], {
      holdAttempts,
      leaseSeconds: 1,
    });
    return written!;
  };

  it('is made under one lease: each delivery once, in order, and the lane is idle afterwards', async () => {
    const [lane] = await bench.deliveries(await proven(), 1);
    await bench.deliveries(1, 8, lane);
    const began = performance.now();
    let begun: Claimed[] = [];
    const trips = await log.tripsDuring(async () => {
      begun = await made(4);
    });
    const isLong = performance.now() - began > 900;
    const events = begun.map(({ event }) => event.id);
    expect(events)
      .to.have.lengthOf(9)
      .and.to.deep.equal(events.toSorted((one, other) => one - other));
    expect(begun.every(({ attempt }) => attempt === 1)).to.equal(true);
    // On a machine so busy that a turn ends by its time, there may be a second one.
    if (!isLong) expect(new Set(begun.map(({ token }) => token)).size).to.equal(1);
    const takes = trips.flat().filter((text) => text.includes('unknown_attempts') && !text.includes('WITH result'));
    expect(takes).to.have.lengthOf.at.most(isLong ? 9 : 1);
    expect(await bench.rows('SELECT due_at, lease_token FROM lanes')).to.deep.equal([
      { due_at: null, lease_token: null },
    ]);
    const attempts = await bench.rows(`SELECT FROM attempts WHERE number = 1 AND outcome = 'delivered'`);
    expect(attempts).to.have.lengthOf(9);
  });

  it('ends, so that the other lanes of the endpoint have theirs', async () => {
    const [long] = await bench.deliveries(await proven(), 1);
    await bench.deliveries(1, 29, long);
    const [short] = await bench.deliveries(1, 1);
    const begun = await made(1);
    expect(begun.map(({ laneId }) => laneId).indexOf(short!)).to.be.within(0, 10);
    expect(begun).to.have.lengthOf(31);
  });

  it('ends when another endpoint waits for a slot', async () => {
    const [long] = await bench.deliveries(await proven(), 1);
    await bench.deliveries(1, 9, long);
    const other = await proven();
    await bench.deliveries(other, 1);
    const begun = await made(1);
    expect(begun.map(({ endpoint }) => endpoint.id).indexOf(other)).to.be.within(0, 2);
  });

  it('ends with a failure', async () => {
    const [lane] = await bench.deliveries(await proven(), 1);
    await bench.deliveries(1, 2, lane);
    const begun = await made(4, 'failed');
    expect(new Set(begun.map(({ token }) => token)).size).to.equal(3);
  });

  it('ends when the circuit of the endpoint opens', async () => {
    const [lane] = await bench.deliveries(await proven(), 1);
    await bench.deliveries(1, 1, lane);
    const [claimed] = await bench.claim();
    await bench.rows(`UPDATE webhooks SET circuit_probe_at = now() + interval '5 seconds'`);
    expect(await goOn(claimed!)).to.include({ isReleased: true, isDue: true, next: null });
    expect(await bench.rows('SELECT FROM lanes WHERE lease_token IS NULL')).to.have.lengthOf(1);
  });

  it('ends before what a plugin is to run: a claim reads what the run needs', async () => {
    const [lane] = await bench.deliveries(await proven(), 1);
    await bench.deliveries(1, 2, lane);
    const [bot] = await bench.rows(
      `INSERT INTO agent_bots (account_id, name, kind, plugin_id, events) VALUES (1, 'Inside', 'plugin', 'faq', '{}') RETURNING id`,
    );
    for (const table of ['lanes', 'deliveries'])
      await bench.rows(`UPDATE ${table} SET endpoint_kind = 'bot', endpoint_id = $1`, [bot!['id']]);
    await bench.rows(`UPDATE events SET bot_payload = '{}'`);
    const claim = async () => {
      const share = {
        id: Number(bot!['id']),
        accountId: 1,
        isProven: null,
        circuit: 'closed',
        rate: null,
        lanes: 1,
      } as const;
      const bounds = { shares: [share], leaseSeconds: 30, token: systemRandom.uuid(), holdAttempts, isHeld: false };
      return (await claiming({ kind: 'bot', isSide: false })(bench.sql, bounds)).heads[0]!;
    };
    expect(await goOn(await claim())).to.include({ isReleased: true, isDue: true, next: null });
    const claimed = await claim();
    await bench.rows('UPDATE deliveries SET forwarded = true');
    expect((await goOn(claimed)).next!.endpoint).to.include({ kind: 'bot', runs: false });
  });

  it('goes on with a delivery that a dead process left behind, and keeps its attempt as one of unknown end', async () => {
    const [lane] = await bench.deliveries(await proven(), 1);
    await bench.deliveries(1, 1, lane);
    const [claimed] = await bench.claim();
    await bench.rows('UPDATE deliveries SET lease_token = gen_random_uuid(), attempt = 1 WHERE id <> $1', [
      claimed!.deliveryId,
    ]);
    const { next } = await goOn(claimed!);
    expect(next).to.include({ laneId: lane, token: claimed!.token, attempt: 2, claims: 1 });
    expect(await bench.rows(`SELECT delivery_id AS id, outcome FROM attempts ORDER BY id`)).to.have.deep.members([
      { id: claimed!.deliveryId, outcome: 'delivered' },
      { id: next!.deliveryId, outcome: 'unknown' },
    ]);
    expect(await bench.claim()).to.deep.equal([]);
    expect(await goOn(next!)).to.include({ isReleased: true, isDue: false, next: null });
  });

  it('is over when the lease was not renewed, as in an outage: the next delivery is claimed once, by whoever comes', async () => {
    const [lane] = await bench.deliveries(await proven(), 1);
    await bench.deliveries(1, 1, lane);
    const [claimed] = await bench.claim();
    await bench.pass(29.5);
    expect(await goOn(claimed!)).to.include({ isReleased: true, isDue: true, next: null });
    const heads = await bench.claim();
    expect(heads.map(({ laneId, attempt }) => [laneId, attempt])).to.deep.equal([[lane, 1]]);
    expect(await bench.claim()).to.deep.equal([]);
    expect(await goOn(heads[0]!)).to.include({ isReleased: true, isDue: false, next: null });
  });

  it('is over for a process whose lease was taken over', async () => {
    const [lane] = await bench.deliveries(await proven(), 1);
    await bench.deliveries(1, 1, lane);
    const [early] = await bench.claim();
    await bench.pass(31);
    const [late] = await bench.claim();
    expect(late).to.include({ deliveryId: early!.deliveryId, attempt: 2 });
    const result = { ...bench.resultOf(early!), goesOn: true };
    expect(await finishAndGoOn(bench.sql, [result], { holdAttempts, leaseSeconds: 1 })).to.deep.equal([]);
    expect((await goOn(late!)).next).to.include({ laneId: lane, attempt: 1 });
  });

  it('is not for the late result of a lost lease, beside the one under the present lease', async () => {
    isForged = true;
    const [lane] = await bench.deliveries(await proven(), 1);
    await bench.deliveries(1, 1, lane);
    const [early] = await bench.claim();
    await bench.pass(31);
    const [late] = await bench.claim();
    for (const [first, second] of [
      [early!, late!],
      [late!, early!],
    ] as const) {
      await bench.rows(`UPDATE deliveries SET state = 'pending', lease_token = $1 WHERE id = $2`, [
        late!.token,
        late!.deliveryId,
      ]);
      await bench.rows('UPDATE deliveries SET lease_token = NULL, attempt = 0 WHERE id <> $1', [late!.deliveryId]);
      await bench.rows(`UPDATE lanes SET lease_token = $1`, [late!.token]);
      const batch = new FinishBatch({
        database: bench.app.app.database,
        holdAttempts,
        leaseSeconds: 30,
        failed: (error) => {
          throw error;
        },
      });
      const after = await Promise.all(
        [first, second].map((claimed) => batch.add({ ...bench.resultOf(claimed), goesOn: true })),
      );
      const [ofLate, ofEarly] = first === late ? after : after.toReversed();
      expect(ofEarly).to.deep.equal({ isDue: null, next: null });
      expect(ofLate!.next).to.include({ laneId: lane, token: late!.token, attempt: 1 });
    }
  });

  it('learns of a failure that another process saw meanwhile', async () => {
    const [lane] = await bench.deliveries(await proven(), 1);
    await bench.deliveries(1, 2, lane);
    const standings: (boolean | null)[] = [];
    const deliver: Deliver = async (claimed, { isProven }) => {
      standings.push(isProven);
      if (standings.length === 1) await bench.rows('UPDATE webhooks SET is_proven = false');
      return { finished: bench.resultOf(claimed), outcome: 'delivered', isAsKnown: true };
    };
    const engine = engineOf(bench, deliver, 4);
    engine.start();
    try {
      await eventually(async () => (await pending()) === 0);
    } finally {
      await engine.stop();
    }
    expect(standings).to.deep.equal([true, false, false]);
  });

  it('may be asked for again, when the answer to the statement was lost', async () => {
    const [lane] = await bench.deliveries(await proven(), 1);
    await bench.deliveries(1, 2, lane);
    const [claimed] = await bench.claim();
    const { next } = await goOn(claimed!);
    // The second time nothing is taken: the lane is given back, and whoever claims it knows no end of the attempt.
    expect(await goOn(claimed!)).to.include({ deliveryId: null, isReleased: true, isDue: true, next: null });
    expect(await goOn(next!).catch(() => null)).to.equal(undefined);
    const [again] = await bench.claim();
    expect(again).to.include({ deliveryId: next!.deliveryId, attempt: 2 });
  });
});
