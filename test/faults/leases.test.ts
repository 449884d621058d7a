import { openGate } from '../../src/lib/outbound-gate.ts';
import { onAnnounced } from '../../src/events/announcements.ts';
import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { firstEndpoint, lookAt, surveyDue } from '../../src/deliveries/lanes/due-endpoints.ts';
import { learning } from '../../src/engine/endpoint-learning.ts';
import { Engine, type EngineOptions } from '../../src/engine/engine.ts';
import type { Claimed } from '../../src/deliveries/lanes/claim.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import type { Sql } from '../../src/postgres/sql.ts';
import { eventually } from './helpers.ts';
import { Bench, claimDue, holdAttempts, leaseSeconds, perEndpoint, noBot } from './lease-bench.ts';
import { stopClean } from './ledger.ts';

describe('leases', () => {
  let bench: Bench;

  beforeEach(async () => {
    bench = await Bench.start();
  });

  afterEach(() => stopClean(bench.app));

  it('a lane is leased to one process only, and one delivery of it', async () => {
    const webhookId = await bench.webhook();
    const laneIds = await bench.deliveries(webhookId, 200);
    await bench.deliveries(webhookId, 1, laneIds[0]);
    const all = 1_000;
    const claims = (await Promise.all(Array.from({ length: 8 }, () => bench.claim(all)))).flat();
    expect(claims.map(({ laneId }) => laneId).toSorted((one, other) => one - other)).to.deep.equal(laneIds);
    expect(claims.every(({ attempt }) => attempt === 1)).to.equal(true);
    expect(await bench.claim(all)).to.deep.equal([]);
  });

  it('a claim passes by what another is about to take, without waiting for it', async () => {
    await bench.deliveries(await bench.webhook(), 3);
    await bench.transaction(async (sql) => {
      const bounds = {
        shares: await bench.shares(3),
        leaseSeconds,
        token: systemRandom.uuid(),
        holdAttempts,
        isHeld: false,
      };
      expect((await claimDue(sql, bounds)).heads).to.have.lengthOf(3);
      const patience = sleep(1_000, 'waited');
      expect(await Promise.race([bench.claim(), patience])).to.deep.equal([]);
    });
  });

  it('a finish that comes after the lease was taken over changes nothing', async () => {
    await bench.deliveries(await bench.webhook(), 1);
    const [early] = await bench.claim();
    await bench.pass(29);
    expect(await bench.claim()).to.deep.equal([]);
    await bench.pass(2);
    const [late] = await bench.claim();
    expect(late).to.include({ deliveryId: early!.deliveryId, attempt: 2 });
    const before = await bench.ledger();
    expect(before.attempts).to.deep.equal([
      { delivery_id: early!.deliveryId, number: 1, outcome: 'unknown', error_code: 'lease_expired' },
    ]);

    expect(await bench.finish(early!)).to.deep.equal([]);
    expect(await bench.fail(early!)).to.deep.equal([]);
    await bench.extend(early!, 0);
    await bench.extend(early!, 30);
    expect(await bench.ledger()).to.deep.equal(before);

    expect(await bench.finish(late!)).to.deep.equal([late!.deliveryId]);
    expect(await bench.finish(late!)).to.deep.equal([]);
    const after = await bench.ledger();
    expect(after.attempts.at(-1)).to.include({ number: 2, outcome: 'delivered' });
    expect(after.attempts).to.have.lengthOf(2);
    expect(after.lanes).to.deep.equal([{ id: late!.laneId, due_at: null, lease_token: null }]);
  });

  it('a lease given up early is free for the next at once, and its attempt of unknown end', async () => {
    await bench.deliveries(await bench.webhook(), 1);
    const [claimed] = await bench.claim();
    await bench.extend(claimed!, 0);
    const [again] = await bench.claim();
    expect(again).to.include({ deliveryId: claimed!.deliveryId, attempt: 2 });
    expect((await bench.ledger()).attempts).to.have.deep.members([
      { delivery_id: claimed!.deliveryId, number: 1, outcome: 'unknown', error_code: 'lease_expired' },
    ]);
  });

  it("a lease that is renewed in time is nobody else's", async () => {
    await bench.deliveries(await bench.webhook(), 1);
    const [claimed] = await bench.claim();
    for (let renewal = 0; renewal < 3; renewal += 1) {
      await bench.pass(20);
      await bench.extend(claimed!, 30);
      expect(await bench.claim()).to.deep.equal([]);
    }
    expect(await bench.finish(claimed!)).to.deep.equal([claimed!.deliveryId]);
    expect((await bench.ledger()).attempts).to.have.lengthOf(1);
  });

  it('a failing delivery holds its own lane back for three attempts, and no other', async () => {
    const webhookId = await bench.webhook();
    const [laneId] = await bench.deliveries(webhookId, 1);
    await bench.deliveries(webhookId, 1, laneId);
    const [first] = await bench.claim();
    for (let attempt = 1; attempt <= holdAttempts; attempt += 1) {
      const claimed = attempt === 1 ? first : (await bench.claim())[0];
      expect(claimed).to.include({ deliveryId: first!.deliveryId, attempt });
      await bench.fail(claimed!);
      const [other] = await bench.deliveries(webhookId, 1);
      const taken = await bench.claim();
      const held = taken.filter((claim) => claim.laneId === laneId);
      const others = taken.filter((claim) => claim.laneId === other);
      expect(others).to.have.lengthOf(1);
      await bench.finish(others[0]!);
      if (attempt < holdAttempts) {
        expect(held, `after attempt ${attempt}`).to.deep.equal([]);
        await bench.pass(60);
        continue;
      }
      // Now the later one passes while the first waits for its fourth attempt.
      expect(held.map(({ deliveryId }) => deliveryId)).to.deep.equal([first!.deliveryId + 1]);
      await bench.finish(held[0]!);
    }
    await bench.pass(60);
    const fourth = (await bench.claim()).find((claim) => claim.laneId === laneId);
    expect(fourth).to.include({ deliveryId: first!.deliveryId, attempt: 4 });
  });

  it('an event that comes while its lane waits for a retry does not overtake', async () => {
    const webhookId = await bench.webhook();
    const [laneId] = await bench.deliveries(webhookId, 1);
    const [first] = await bench.claim();
    await bench.fail(first!);
    await bench.deliveries(webhookId, 1, laneId);
    // What the outbox does with a lane that nobody leases.
    await bench.rows('UPDATE lanes SET due_at = now() WHERE id = $1', [laneId]);
    expect(await bench.claim()).to.deep.equal([]);
  });

  it('a lane whose head waits for its retry is not due before that, whatever stands behind it', async () => {
    const webhookId = await bench.webhook();
    const [laneId] = await bench.deliveries(webhookId, 1);
    await bench.deliveries(webhookId, 1, laneId);
    const [first] = await bench.claim();
    await bench.fail(first!, 60_000);
    const [lane] = await bench.rows("SELECT due_at > now() + interval '55 seconds' AS waits FROM lanes");
    expect(lane).to.deep.equal({ waits: true });
  });

  it('an event that comes during an attempt waits for its end', async () => {
    const { app } = bench;
    await app.post('webhooks', { url: 'http://127.0.0.1:9/hook', subscriptions: ['contact_updated'] });
    const { body: contact } = await app.post('contacts', { name: 'Before' });
    await app.patch(`contacts/${contact.id}`, { name: 'Then' });
    const [first] = await bench.claim();
    expect(first!.body).to.include('Then');
    await app.patch(`contacts/${contact.id}`, { name: 'Now' });
    expect(await bench.claim()).to.deep.equal([]);
    await bench.finish(first!);
    const [second] = await bench.claim();
    expect(second!.body).to.include('Now');
    expect(second).to.include({ attempt: 1, laneId: first!.laneId });
  });

  it('a backlog of however many lanes is due once its endpoint answers again', async () => {
    const webhookId = await bench.webhook();
    await bench.deliveries(webhookId, 1_500);
    await bench.pass(-3_600);
    const [probed] = await bench.rows(
      'UPDATE lanes SET due_at = now() WHERE id = (SELECT min(id) FROM lanes) RETURNING id',
    );
    await bench.rows('UPDATE deliveries SET next_attempt_at = now() WHERE lane_id = $1', [probed!['id']]);
    await bench.rows('UPDATE webhooks SET circuit_trips = 1, circuit_probe_at = now()');
    const [claimed] = await bench.claim(1);
    const failed = (error: unknown) => {
      throw error;
    };
    const log = { info: () => undefined, warn: () => undefined };
    const { database } = bench.app.app;
    const poked: unknown[] = [];
    onAnnounced(database, 'committed', ({ deliveries }) => poked.push(...deliveries));
    const learn = learning({ database, random: systemRandom, log, failed });
    await learn(claimed!, { id: webhookId, accountId: 1, isProven: false, circuit: 'probe', rate: null }, 'delivered');
    const [waiting] = await bench.rows(
      'SELECT count(*) AS count FROM lanes WHERE due_at > now() AND lease_token IS NULL',
    );
    expect(waiting).to.deep.equal({ count: 0 });
    // Resent and recovered deliveries have pumps of their own.
    const woken = { kind: 'webhook', id: webhookId, accountId: 1 };
    expect(poked).to.deep.equal([woken, { ...woken, isSide: true }]);
  });

  it('ten thousand due lanes of one endpoint do not starve another, and the claim stays on its index', async function () {
    this.timeout(60_000);
    const crowd = await bench.webhook();
    const [quiet, last] = [await bench.webhook(), await bench.webhook()];
    await bench.deliveries(crowd, 10_000);
    await bench.deliveries(quiet, 1);
    await bench.deliveries(last, 1);
    await bench.rows('ANALYZE lanes');

    const first = await bench.claim();
    expect(first.map(({ endpoint }) => endpoint.id)).to.include.members([crowd, quiet, last]);
    expect(first).to.have.lengthOf(perEndpoint + 2);
    await bench.deliveries(last, 1);
    // A survey that is full goes on behind the endpoints it has stepped over.
    const pages = [firstEndpoint];
    for (let page = 0; page < 4; page += 1) {
      const { due, next } = await surveyDue(bench.sql, {
        kind: 'webhook',
        isSide: false,
        after: pages.at(-1)!,
        limit: 1,
        isHeld: () => false,
      });
      expect(due.map(({ id }) => id)).to.deep.equal([[crowd], [], [last], []][page]);
      pages.push(next);
    }
    expect(pages.map(({ id }) => id)).to.deep.equal([0, crowd, quiet, last, 0]);

    const shares = await bench.shares(1);
    const plans = {
      survey: await explain(bench, (sql) =>
        surveyDue(sql, { kind: 'webhook', isSide: false, after: firstEndpoint, limit: 1_000, isHeld: () => false }),
      ),
      look: await explain(bench, (sql) => lookAt(sql, { kind: 'webhook', isSide: false, isHeld: () => false }, shares)),
      claim: await explain(bench, (sql) =>
        claimDue(sql, { shares, leaseSeconds, token: systemRandom.uuid(), holdAttempts, isHeld: false }),
      ),
    };
    const lookups = Object.entries(plans).map(([name, plan]) => {
      const ofLanes = plan.filter(({ relation }) => relation === 'lanes');
      return [name, ofLanes.filter(({ node }) => node !== 'ModifyTable').map(({ index }) => index ?? 'none')];
    });
    expect(Object.fromEntries(lookups)).to.deep.equal({
      survey: ['lanes_due', 'lanes_due', 'lanes_due', 'lanes_due'],
      look: ['lanes_due'],
      claim: ['lanes_pkey', 'lanes_pkey', 'lanes_due'],
    });
  });

  it('a stop waits for a claim that is under way', async () => {
    const [laneId] = await bench.deliveries(await bench.webhook(), 1);
    const begun: number[] = [];
    const engine = engineOf(bench, {
      pollMs: 60_000,
      webhook: async (claimed) => {
        begun.push(claimed.deliveryId);
        await bench.finish(claimed);
        return { finished: null, outcome: 'delivered' };
      },
    });
    const client = new Client({ connectionString: bench.app.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    // Claims read it; rows that are locked they pass by.
    await client.query('LOCK TABLE events');
    engine.start();
    const waiting = () =>
      bench.rows(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%lease_token%'`,
      );
    await eventually(async () => (await waiting()).length === 1);
    const stopped = engine.stop();
    await client.end();
    await stopped;
    expect(begun).to.have.lengthOf(1);
    expect(await bench.rows('SELECT FROM lanes WHERE lease_token IS NOT NULL')).to.deep.equal([]);
    expect(await bench.rows('SELECT state FROM deliveries WHERE lane_id = $1', [laneId])).to.deep.equal([
      { state: 'delivered' },
    ]);
  });

  it('a stop renews the leases of what it waits for, so that nobody else begins it', async function () {
    this.timeout(60_000);
    await bench.deliveries(await bench.webhook(), 1);
    const [begun, ended] = [[] as number[], Promise.withResolvers<void>()];
    const webhook = async (claimed: Claimed) => {
      begun.push(claimed.deliveryId);
      await ended.promise;
      return { finished: bench.resultOf(claimed), outcome: 'delivered' } as const;
    };
    const [engine, other] = [1, 2].map(() => engineOf(bench, { pollMs: 50, leaseSeconds: 3, webhook }));
    engine!.start();
    await eventually(() => begun.length === 1);
    other!.start();
    const stopped = engine!.stop();
    const [lease] = await bench.rows('SELECT due_at AS end FROM lanes');
    const passed = () =>
      bench.rows('SELECT FROM lanes WHERE now() > $1::timestamptz + make_interval(secs => 1)', [lease!['end']]);
    await eventually(async () => (await passed()).length === 1);
    ended.resolve();
    await stopped;
    await other!.stop();
    expect(begun).to.have.lengthOf(1);
    expect((await bench.ledger()).attempts).to.have.lengthOf(1);
  });
});

/** An engine on the bench's database that makes deliveries to webhooks so. */
function engineOf(
  { app }: Bench,
  options: { webhook: EngineOptions['deliver']['webhook']; pollMs: number; leaseSeconds?: number },
): Engine {
  return new Engine({
    database: app.app.database,
    gate: openGate,
    random: systemRandom,
    deliver: { webhook: options.webhook, bot: noBot, automation: noBot, channel: noBot },
    inFlight: { webhook: 10, bot: 10, automation: 1, channel: 1 },
    endpointInFlight: 10,
    resent: { inFlight: 8, endpointInFlight: 8 },
    leaseSeconds: options.leaseSeconds ?? leaseSeconds,
    holdAttempts,
    pollMs: options.pollMs,
    failed: (error) => {
      throw error;
    },
  });
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: PlanNode[];
}

/** The nodes of the plan of a statement that `work` runs. */
async function explain(
  { sql }: Bench,
  work: (sql: Sql) => Promise<unknown>,
): Promise<{ node: string; relation: string | undefined; index: string | undefined }[]> {
  const plans: PlanNode[] = [];
  await work(async <Row>(text: string, parameters: readonly unknown[] = []): Promise<Row[]> => {
    const rows = await sql<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(`EXPLAIN (FORMAT JSON) ${text}`, parameters);
    plans.push(...rows.flatMap((row) => row['QUERY PLAN'].map(({ Plan }) => Plan)));
    return [];
  });
  const nodes: PlanNode[] = [];
  for (let next = plans.pop(); next; next = plans.pop()) {
    nodes.push(next);
    plans.push(...(next.Plans ?? []));
  }
  return nodes.map((node) => ({
    node: node['Node Type'],
    relation: node['Relation Name'],
    index: node['Index Name'],
  }));
}
