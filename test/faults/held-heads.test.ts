import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { openGate } from '../../src/lib/outbound-gate.ts';
import { Engine } from '../../src/engine/engine.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { hold } from '../support/lock.ts';
import { addAccount } from '../support/people.ts';
import { eventually } from './helpers.ts';
import { Bench, holdAttempts } from './lease-bench.ts';
import { stopClean } from './ledger.ts';

describe('the head of a lane that somebody else has locked', () => {
  let bench: Bench;

  beforeEach(async () => {
    bench = await Bench.start();
  });

  afterEach(() => stopClean(bench.app));

  it('is not taken, nor the delivery behind it, while other lanes are', async () => {
    const webhookId = await bench.webhook();
    const [laneId] = await bench.deliveries(webhookId, 1);
    await bench.deliveries(webhookId, 1, laneId);
    const [otherId] = await bench.deliveries(webhookId, 1);
    const [head] = await bench.rows('SELECT min(id) AS id FROM deliveries WHERE lane_id = $1', [laneId]);
    const release = await hold(bench.app.databaseUrl, 'SELECT FROM deliveries WHERE id = $1 FOR UPDATE', [head!['id']]);
    expect((await bench.claim()).map((claimed) => claimed.laneId)).to.deep.equal([otherId]);
    await release();
    await bench.pass(61);
    const claimed = await bench.claim();
    expect(claimed.find((one) => one.laneId === laneId)).to.include({ deliveryId: head!['id'], attempt: 1 });
  });

  it('is not delivered when it was being cancelled', async () => {
    await bench.deliveries(await bench.webhook(), 1);
    const client = new Client({ connectionString: bench.app.databaseUrl });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('BEGIN');
    await client.query(`UPDATE deliveries SET state = 'cancelled', finished_at = now()`);
    expect(await bench.claim()).to.deep.equal([]);
    await client.query('COMMIT');
    await client.end();
    await bench.pass(61);
    expect(await bench.claim()).to.deep.equal([]);
    expect(await bench.rows('SELECT state, attempt FROM deliveries')).to.deep.equal([
      { state: 'cancelled', attempt: 0 },
    ]);
  });
});

describe("a system bot's open circuit", () => {
  it('lets one probe through at a time, however many accounts have something due', async () => {
    const bench = await Bench.start();
    const [bot] = await bench.rows(
      `INSERT INTO agent_bots (name, kind, events, outgoing_url, secret, circuit_trips, circuit_probe_at)
       VALUES ('Everybody''s', 'webhook', '{message_created}', 'https://bot.example/hook', 'sealed', 1, now()) RETURNING id`,
    );
    for (let count = 0; count < 4; count += 1) {
      const { id } = await addAccount(bench.app, `Tenant ${count}`);
      await bench.rows(
        `WITH lane AS (INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
           VALUES ($1, 'bot', $2, 'conversation', 1, now()) RETURNING id),
         event AS (INSERT INTO events (account_id, name, bot_payload) VALUES ($1, 'message_created', '{}') RETURNING id),
         unplaced AS (INSERT INTO unplaced_events (event_id, account_id) SELECT id, $1 FROM event)
         INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id)
         SELECT $1, event.id, lane.id, 'bot', $2 FROM lane, event`,
        [id, bot!['id']],
      );
    }
    const ended = Promise.withResolvers<void>();
    let underWay = 0;
    const engine = new Engine({
      database: bench.app.app.database,
      gate: openGate,
      random: systemRandom,
      deliver: {
        webhook: () => Promise.reject(new Error('There is no webhook')),
        bot: async (claimed) => {
          underWay += 1;
          await ended.promise;
          return { finished: bench.resultOf(claimed), outcome: 'delivered' };
        },
        automation: () => Promise.reject(new Error('There is no automation')),
        channel: () => Promise.reject(new Error('There is no channel')),
      },
      inFlight: { webhook: 64, bot: 64, automation: 1, channel: 1 },
      endpointInFlight: 8,
      resent: { inFlight: 8, endpointInFlight: 8 },
      leaseSeconds: 30,
      holdAttempts,
      pollMs: 20,
      failed: (error) => {
        throw error;
      },
    });
    try {
      engine.start();
      await eventually(() => underWay > 0);
      // Several more looks at what is due.
      await sleep(200);
      expect(underWay).to.equal(1);
    } finally {
      ended.resolve();
      await engine.stop();
      await stopClean(bench.app);
    }
  });
});
