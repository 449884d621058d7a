import { expect } from 'chai';
import { Engine } from '../../src/engine/engine.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { Bench, holdAttempts } from './lease-bench.ts';
import { eventually } from './helpers.ts';

const endpoints = 8;
const backlog = 40;
const slots = 4;

describe('an engine with fewer slots than busy endpoints', () => {
  it('lets all of them make progress, whatever their ids', async () => {
    const bench = await Bench.start();
    const made = new Map<number, number>();
    let underWay = 0;
    let most = 0;
    const engine = new Engine({
      database: bench.app.app.database,
      random: systemRandom,
      deliver: {
        webhook: async (claimed) => {
          underWay += 1;
          most = Math.max(most, underWay);
          await new Promise((resolve) => setTimeout(resolve, 5));
          underWay -= 1;
          const { id } = claimed.endpoint;
          made.set(id, (made.get(id) ?? 0) + 1);
          return { finished: bench.resultOf(claimed), outcome: 'delivered' };
        },
        bot: () => Promise.reject(new Error('There is no bot')),
      },
      inFlight: { webhook: slots, bot: slots },
      endpointInFlight: 8,
      leaseSeconds: 30,
      holdAttempts,
      pollMs: 20,
      failed: (error) => {
        throw error;
      },
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
      await eventually(() => Math.max(0, ...made.values()) >= backlog / 4, 10_000);
      const progress = ids.map((id) => made.get(id) ?? 0);
      expect(Math.min(...progress)).to.be.at.least(backlog / 8);
      expect(most).to.be.within(2, slots);
    } finally {
      await engine.stop();
      await bench.app.stop();
    }
  });
});
