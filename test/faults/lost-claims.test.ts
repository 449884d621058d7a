import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { FinishBatch } from '../../src/engine/finish-batch.ts';
import { extendLeases, releaseLanes } from '../../src/deliveries/lanes/lease.ts';
import { eventually } from './helpers.ts';
import { Bench, holdAttempts } from './lease-bench.ts';
import { stopClean } from './ledger.ts';

describe('claims without a result', () => {
  let bench: Bench;

  beforeEach(async () => {
    bench = await Bench.start();
  });

  afterEach(() => stopClean(bench.app));

  it('attempts that left no result count as claims, and not in the schedule', async () => {
    await bench.deliveries(await bench.webhook(), 1);
    expect(await bench.lose(3)).to.include({ attempt: 4, claims: 4, failures: 0 });
    const [row] = await bench.rows('SELECT attempt, claims, failures FROM deliveries');
    expect(row).to.deep.equal({ attempt: 4, claims: 4, failures: 0 });
  });

  it('a written result ends the count of claims, and moves the delivery on in its schedule', async () => {
    await bench.deliveries(await bench.webhook(), 1);
    await bench.fail(await bench.lose(2));
    await bench.pass(60);
    const again = await bench.lose(1);
    expect(again).to.include({ attempt: 5, claims: 2, failures: 1 });
    await bench.finish(again);
    expect(await bench.rows('SELECT state, attempt, claims, failures FROM deliveries')).to.deep.equal([
      { state: 'delivered', attempt: 5, claims: 0, failures: 1 },
    ]);
  });

  it('a delivery that was lost three times still holds its lane back: only failures let others pass', async () => {
    const webhookId = await bench.webhook();
    const [laneId] = await bench.deliveries(webhookId, 1);
    const claimed = await bench.lose(holdAttempts);
    await bench.fail(claimed);
    await bench.deliveries(webhookId, 1, laneId);
    await bench.rows('UPDATE lanes SET due_at = now() WHERE id = $1', [laneId]);
    expect(await bench.claim()).to.deep.equal([]);
  });

  it('lanes that a process left behind are leased for different times, so that they come back apart from each other', async () => {
    await bench.deliveries(await bench.webhook(), 40);
    const all = 100;
    const ends = async () =>
      (await bench.rows('SELECT extract(epoch FROM due_at - now()) AS seconds FROM lanes')).map((row) =>
        Number(row['seconds']),
      );
    await bench.claim(all);
    const first = await ends();
    expect(Math.max(...first) - Math.min(...first)).to.equal(0);
    await bench.pass(31);
    const begun = performance.now();
    expect(await bench.claim(all)).to.have.lengthOf(40);
    const second = await ends();
    const passed = (performance.now() - begun) / 1000;
    expect(Math.min(...second)).to.be.above(29 - passed);
    expect(Math.max(...second)).to.be.within(45 - passed, 61);
    expect(new Set(second).size).to.be.above(35);
  });

  it('a delivery that ends the process each time takes none of those with it that were under way at first', async () => {
    const laneIds = await bench.deliveries(await bench.webhook(), 12);
    const poison = laneIds[0];
    const all = 100;
    for (let claims = 0; claims < 5;) {
      const claimed = await bench.claim(all);
      const deadly = claimed.find(({ laneId }) => laneId === poison);
      if (deadly) claims = deadly.claims;
      else for (const innocent of claimed) await bench.finish(innocent);
      await bench.pass(0.5);
    }
    const left = await bench.rows(
      `SELECT lane_id, claims FROM deliveries WHERE state = 'pending' ORDER BY claims DESC`,
    );
    expect(left[0]).to.deep.equal({ lane_id: poison, claims: 5 });
    expect(Math.max(0, ...left.slice(1).map((row) => Number(row['claims'])))).to.be.below(5);
  });
});

describe('locked lanes', () => {
  let bench: Bench;

  beforeEach(async () => {
    bench = await Bench.start();
  });

  afterEach(() => stopClean(bench.app));

  it('a lane that somebody else has locked keeps no other result from being written', async () => {
    await bench.deliveries(await bench.webhook(), 3);
    const claims = await bench.claim();
    const [locked, ...free] = claims;
    const release = await bench.hold([locked!.laneId]);
    const { batch, engineFailures } = batchOf(bench, 30);
    const written: number[] = [];
    const all = claims.map(async (claimed) => {
      await batch.add(bench.resultOf(claimed));
      written.push(claimed.deliveryId);
    });
    const pending = () => bench.rows(`SELECT id FROM deliveries WHERE state = 'pending'`);
    await eventually(async () => (await pending()).length === 1);
    await sleep(600);
    expect(written).to.have.members(free.map(({ deliveryId }) => deliveryId));
    await release();
    await Promise.all(all);
    expect(await pending()).to.deep.equal([]);
    expect(engineFailures).to.deep.equal([]);
    const { attempts } = await bench.ledger();
    expect(attempts).to.have.lengthOf(3);
  });

  it('a lane that stays locked is given up when its lease would have run out', async () => {
    await bench.deliveries(await bench.webhook(), 1);
    const [claimed] = await bench.claim();
    const release = await bench.hold([claimed!.laneId]);
    const { batch, engineFailures } = batchOf(bench, 1);
    await batch.add(bench.resultOf(claimed!));
    expect(engineFailures.map(({ message }) => message)).to.deep.equal([
      `Lane ${claimed!.laneId} stayed locked; what became of its attempt is lost`,
    ]);
    await release();
  });

  it('a result that cannot be written does not keep back those it would have been written with', async () => {
    await bench.deliveries(await bench.webhook(), 3);
    const claims = await bench.claim();
    const { batch, engineFailures } = batchOf(bench, 30);
    const status = 2 ** 31;
    await Promise.all(
      claims.map((claimed, at) => batch.add({ ...bench.resultOf(claimed), ...(at === 1 ? { status } : {}) })),
    );
    expect(await bench.rows(`SELECT id FROM deliveries WHERE state = 'pending'`)).to.deep.equal([
      { id: claims[1]!.deliveryId },
    ]);
    expect(engineFailures).to.have.lengthOf(1);
  });

  it('leases are renewed and lanes given back past those that somebody else has locked', async () => {
    await bench.deliveries(await bench.webhook(), 2);
    const [locked, free] = await bench.claim();
    const release = await bench.hold([locked!.laneId]);
    const leases = [locked!, free!];
    expect(await bench.transaction((sql) => extendLeases(sql, leases, 90))).to.deep.equal([locked]);
    expect(await bench.transaction((sql) => releaseLanes(sql, leases, holdAttempts))).to.deep.equal([locked]);
    await release();
    const lanes = await bench.rows('SELECT id FROM lanes WHERE lease_token IS NOT NULL');
    expect(lanes).to.deep.equal([{ id: locked!.laneId }]);
  });
});

describe('results after an outage', () => {
  let bench: Bench;

  beforeEach(async () => {
    bench = await Bench.start();
  });

  afterEach(() => stopClean(bench.app));

  it('are written as soon as before, once one of them could be written', async () => {
    await bench.deliveries(await bench.webhook(), 2);
    const [first, second] = await bench.claim();
    const { database } = bench.app.app;
    const { sql } = database;
    const away = (): never => {
      Object.assign(database, { sql });
      throw Object.assign(new Error('The database is away'), { code: 'ECONNREFUSED' });
    };
    Object.assign(database, { sql: away });
    const { batch, engineFailures } = batchOf(bench, 30);
    const [before, after] = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()];
    const usual = timersOf(() => batch.add(bench.resultOf(first!)).then(before.resolve, before.reject));
    expect(await before.promise).to.include({ isDue: false });
    expect(engineFailures).to.have.lengthOf(1);
    expect(timersOf(() => batch.add(bench.resultOf(second!)).then(after.resolve, after.reject))).to.deep.equal(usual);
    expect(await after.promise).to.include({ isDue: false });
  });
});

/** How long the timers are that the work sets, in milliseconds. */
function timersOf(work: () => unknown): (number | undefined)[] {
  const { setTimeout: set } = globalThis;
  const delays: (number | undefined)[] = [];
  globalThis.setTimeout = Object.assign(
    (callback: () => void, ms?: number) => {
      delays.push(ms);
      return set(callback, ms);
    },
    { __promisify__: set.__promisify__ },
  );
  try {
    work();
  } finally {
    globalThis.setTimeout = set;
  }
  return delays;
}

/** The batch in which the engine gathers results, and what it tells of. */
function batchOf({ app }: Bench, leaseSeconds: number): { batch: FinishBatch; engineFailures: Error[] } {
  const engineFailures: Error[] = [];
  const failed = (error: unknown) => void engineFailures.push(error as Error);
  return {
    batch: new FinishBatch({ database: app.app.database, holdAttempts, leaseSeconds, failed }),
    engineFailures,
  };
}
