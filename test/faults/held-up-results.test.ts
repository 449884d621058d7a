import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { openGate } from '../../src/lib/outbound-gate.ts';
import { Database } from '../../src/postgres/database.ts';
import { Engine } from '../../src/engine/engine.ts';
import { systemClock, systemRandom } from '../../src/lib/ports.ts';
import { freePort } from '../support/service.ts';
import { eventually } from './helpers.ts';
import { Bench, holdAttempts, noBot } from './lease-bench.ts';
import { stopClean } from './ledger.ts';
import { Passage } from './passage.ts';

// More than are written together, several times over.
const results = 130;
const outageMs = 1_000;
const timeouts = { statementTimeoutMs: 30_000, lockTimeoutMs: 1_250, idleInTransactionTimeoutMs: 5_000 };

describe('results of attempts that end while the database is away', function () {
  this.timeout(60_000);
  let bench: Bench;
  let passage: Passage;
  let database: Database;

  before(async () => {
    bench = await Bench.start();
    passage = new Passage(await freePort(), bench.app.databaseUrl);
    await passage.open();
    database = new Database({
      url: passage.url,
      poolMax: 4,
      ...timeouts,
      retriesLocks: true,
      clock: systemClock,
      warn: () => undefined,
      failed: () => undefined,
    });
  });

  after(async () => {
    await database.close();
    await passage.bar();
    await stopClean(bench.app);
  });

  it('are all written once it is back, though nothing more happens, and the engine can stop', async () => {
    const ended = Promise.withResolvers<void>();
    let begun = 0;
    const engine = new Engine({
      database,
      gate: openGate,
      random: systemRandom,
      deliver: {
        webhook: async (claimed) => {
          begun += 1;
          await ended.promise;
          return { finished: bench.resultOf(claimed), outcome: 'delivered' };
        },
        bot: noBot,
        automation: noBot,
        channel: noBot,
      },
      inFlight: { webhook: 4 * results, bot: 1, automation: 1, channel: 1 },
      endpointInFlight: 8,
      resent: { inFlight: 8, endpointInFlight: 8 },
      leaseSeconds: 30,
      holdAttempts,
      pollMs: 50,
      failed: () => undefined,
    });
    for (let count = 0; count < results; count += 1) await bench.deliveries(await bench.webhook(), 1);
    await bench.rows('UPDATE webhooks SET is_proven = true');
    engine.start();
    await eventually(
      () => begun === results,
      60_000,
      () => `${begun} were begun`,
    );
    await passage.bar();
    ended.resolve();
    await sleep(outageMs);
    await passage.open();
    const stopped = engine.stop().then(() => 'stopped');
    const states = () =>
      bench.rows('SELECT state, count(*)::int AS count FROM deliveries GROUP BY state ORDER BY state');
    const outcome = await Promise.race([stopped, sleep(60_000, 'still at it', { ref: false })]);
    expect({ outcome, states: await states() }).to.deep.equal({
      outcome: 'stopped',
      states: [{ state: 'delivered', count: results }],
    });
    expect(begun).to.equal(results);
    expect(engine.inFlight).to.equal(0);
  });
});
