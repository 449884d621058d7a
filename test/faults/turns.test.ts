import { expect } from 'chai';
import { openGate } from '../../src/lib/outbound-gate.ts';
import type { Deliver } from '../../src/engine/attempt.ts';
import { Engine } from '../../src/engine/engine.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { Bench, holdAttempts, noBot } from './lease-bench.ts';
import { eventually } from './helpers.ts';
import { stopClean } from './ledger.ts';

const endpoints = 8;
const backlog = 40;
const slots = 4;
// More than one survey steps over.
const crowd = 1_100;

function engineOf(bench: Bench, webhook: Deliver): Engine {
  return new Engine({
    database: bench.app.app.database,
    gate: openGate,
    random: systemRandom,
    deliver: { webhook, bot: noBot, automation: noBot, channel: noBot },
    inFlight: { webhook: slots, bot: slots, automation: 1, channel: 1 },
    endpointInFlight: 8,
    resent: { inFlight: 8, endpointInFlight: 8 },
    leaseSeconds: 30,
    holdAttempts,
    pollMs: 20,
    failed: (error) => {
      throw error;
    },
  });
}

describe('an engine with fewer slots than busy endpoints', () => {
  let bench: Bench;

  beforeEach(async () => {
    bench = await Bench.start();
  });

  afterEach(() => stopClean(bench.app));

  it('lets all of them make progress, whatever their ids', async () => {
    const made = new Map<number, number>();
    let underWay = 0;
    let most = 0;
    const engine = engineOf(bench, async (claimed) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setTimeout(resolve, 5));
      underWay -= 1;
      const { id } = claimed.endpoint;
      made.set(id, (made.get(id) ?? 0) + 1);
      return { finished: bench.resultOf(claimed), outcome: 'delivered' };
    });
    const ids: number[] = [];
    for (let count = 0; count < endpoints; count += 1) {
      const id = await bench.webhook();
      await bench.deliveries(id, backlog);
      ids.push(id);
    }
    await bench.rows('UPDATE webhooks SET is_proven = true');
    engine.start();
    try {
      // By the time the first has a quarter of its backlog behind it, none is left at the start.
      await eventually(() => Math.max(0, ...made.values()) >= backlog / 4);
      const progress = ids.map((id) => made.get(id) ?? 0);
      expect(Math.min(...progress)).to.be.at.least(backlog / 8);
      expect(most).to.be.within(2, slots);
    } finally {
      await engine.stop();
    }
  });

  it('finds what is due behind more endpoints than it looks at in one step', async () => {
    await bench.rows(
      `INSERT INTO webhooks (account_id, url, subscriptions, secret)
       SELECT 1, 'http://127.0.0.1:9/', '{}', 'sealed' FROM generate_series(1, $1::int)`,
      [crowd],
    );
    await bench.rows(
      `INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
       SELECT 1, 'webhook', id, 'contact', 1000000 + id, now() FROM webhooks`,
    );
    const [laneId] = await bench.rows('SELECT id FROM lanes ORDER BY endpoint_id LIMIT 1');
    const [first] = await bench.rows('SELECT min(id)::int AS id FROM webhooks');
    await bench.deliveries(Number(first!['id']), 1, Number(laneId!['id']));
    const last = await bench.webhook();
    await bench.deliveries(last, 1);
    await bench.rows('UPDATE webhooks SET is_proven = true WHERE id = $1', [last]);
    // They stay due, as those do that wait for a slot: the only slot for them is taken.
    const { promise: release, resolve } = Promise.withResolvers<void>();
    let found = false;
    const engine = engineOf(bench, async (claimed) => {
      if (claimed.endpoint.id === last) found = true;
      else await release;
      return { finished: bench.resultOf(claimed), outcome: 'delivered' };
    });
    engine.start();
    try {
      await eventually(() => found);
    } finally {
      resolve();
      await engine.stop();
    }
  });
});
