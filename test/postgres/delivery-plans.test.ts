import { expect } from 'chai';
import { cancelBacklog } from '../../src/deliveries/copies/backlogs.ts';
import { lookAtAttempts } from '../../src/deliveries/log/health.ts';
import { listDeliveries } from '../../src/deliveries/log/log.ts';
import type { LogFilter } from '../../src/deliveries/log/log-filter.ts';
import { findRecovery, insertRecovery, recoverSome } from '../../src/deliveries/copies/recover.ts';
import { Database } from '../../src/postgres/database.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import type { Sql } from '../../src/postgres/sql.ts';
import { systemClock } from '../../src/lib/ports.ts';
import { plansOf, scannedTables, watched } from '../support/plans.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';

// Of the first two webhooks 200,000 deliveries a second apart, the last one now, alternating between them; one in 5,000 was
// given up, and one in 10,000 failed and waits.
const seed = [
  `INSERT INTO accounts (name) VALUES ('Big'), ('Late')`,
  `INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
   SELECT 1, 'webhook', 1 + g % 2, 'contact', g, CASE WHEN g < 20 THEN now() END FROM generate_series(0, 1999) g`,
  `INSERT INTO events (account_id, name, account_payload)
   SELECT 1, CASE WHEN g % 1000 = 0 THEN 'contact_created' ELSE 'contact_updated' END, '{}' FROM generate_series(1, 200000) g`,
  `INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, failures, created_at)
   SELECT 1, g, 1 + g % 2000, 'webhook', 1 + g % 2,
     CASE g % 10000 WHEN 4999 THEN 'exhausted' WHEN 9999 THEN 'cancelled' WHEN 5001 THEN 'pending' ELSE 'delivered' END,
     CASE g % 10000 WHEN 5001 THEN 1 ELSE 0 END, now() - (200000 - g) * interval '1 second'
   FROM generate_series(1, 200000) g`,
  // Another account: to its first webhook 120,000 were given up, and for its second as many wait, each in 600 lanes.
  `INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
   SELECT 2, 'webhook', w, 'contact', g, CASE w WHEN 4 THEN now() END FROM generate_series(3, 4) w, generate_series(1, 600) g
   ORDER BY w, g`,
  `INSERT INTO events (account_id, name, account_payload) SELECT 2, 'contact_created', '{}' FROM generate_series(1, 120000)`,
  `INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, finished_at, created_at)
   SELECT 2, 200000 + g, 2001 + (w - 3) * 600 + g % 600, 'webhook', w, CASE w WHEN 3 THEN 'exhausted' ELSE 'pending' END,
     CASE w WHEN 3 THEN now() END, now() - (200000 - g) * interval '1 second'
   FROM generate_series(3, 4) w, generate_series(1, 120000) g`,
  'ANALYZE',
];
const everything: LogFilter = {
  endpoint: null,
  state: null,
  event: null,
  status: null,
  errorCodes: null,
  answer: null,
  conversationId: null,
  since: null,
  until: null,
  after: null,
};

describe('lists of deliveries among many', function () {
  this.timeout(600_000);
  let url: string;
  let database: Database;
  let sql: Sql;

  before(async () => {
    url = await createDatabase(migrate);
    const told = { warn: () => undefined, failed: () => undefined, clock: systemClock };
    const timeouts = { statementTimeoutMs: 60_000, lockTimeoutMs: 60_000, idleInTransactionTimeoutMs: 60_000 };
    database = new Database({ url, poolMax: 2, ...timeouts, retriesLocks: false, ...told });
    sql = watched(database.sql);
    for (const statement of seed) await sql(statement);
  });

  after(async () => {
    await database.close();
    await dropDatabase(url);
  });

  const webhook = { kind: 'webhook', id: 1 } as const;
  const long = new Date(Date.now() - 150_000_000);
  // The rows and index entries that each may read: those of a page, or those that are looked through for it.
  const lists: [what: string, filter: Partial<LogFilter>, rows: number, found: number][] = [
    ['all', {}, 700, 25],
    ['those of one webhook', { endpoint: webhook }, 400, 25],
    [
      'those of a time long ago',
      { endpoint: webhook, until: long, since: new Date(long.getTime() - 3_600_000) },
      400,
      25,
    ],
    ['those that were given up', { state: 'exhausted' }, 700, 20],
    ['those of one webhook that failed', { state: 'failing', endpoint: webhook }, 400, 0],
    ['those that wait for their first attempt, where none does', { state: 'pending' }, 700, 0],
    ['those that were delivered', { state: 'delivered', endpoint: webhook }, 5_000, 25],
    ['those of a rare event', { event: 'contact_created' }, 10_000, 1],
  ];
  for (const [what, filter, rows, found] of lists) {
    it(`${what} cost the page, not the log`, async () => {
      const plans = await plansOf(sql, async () => {
        const { rows: page } = await listDeliveries(sql, 1, { ...everything, ...filter });
        expect(page).to.have.length(found);
      });
      expect(plans.reduce((sum, plan) => sum + plan.rows, 0)).to.be.below(rows);
    });
  }

  const givenUp = { kind: 'webhook', id: 3 } as const;
  const waiting = { kind: 'webhook', id: 4 } as const;
  const large = ['deliveries', 'lanes', 'events'];

  /** Runs the work, and its statements once more; none may read a large table whole, or more rows than that. */
  async function expectBounded(most: number, work: () => Promise<unknown>): Promise<void> {
    const plans = await plansOf(sql, work);
    expect(plans.flatMap(scannedTables).filter((name) => large.includes(name))).to.deep.equal([]);
    expect(plans.reduce((sum, plan) => sum + plan.rows, 0)).to.be.within(1, most);
  }

  it('a batch of a recovery costs the batch, and its progress what it has collected', async () => {
    const leftOut = ['conversation_typing_on'];
    const wanted = { since: new Date(0), until: new Date(), states: ['exhausted', 'cancelled'] as const };
    const { id, count } = await insertRecovery(sql, 2, { endpoint: givenUp, leftOut, ...wanted });
    expect(count).to.equal(120_000);
    for (let batch = 0; batch < 3; batch++)
      await expectBounded(15_000, async () => {
        expect(await recoverSome(sql, id, { leftOut, formatted: [], isOn: async () => true })).to.deep.equal({
          due: null,
          more: true,
        });
      });
    await expectBounded(7_000, async () => {
      expect((await findRecovery(sql, 2, { endpoint: givenUp, id }))?.made.pending).to.equal(6_000);
    });
    // What it made is cancelled, and asked for once more.
    await sql(`UPDATE deliveries SET state = 'cancelled', finished_at = now() WHERE recovery_id = $1`, [id]);
    // Each is counted, by a scan of a scan.
    await expectBounded(420_000, async () => {
      expect(
        (await insertRecovery(sql, 2, { endpoint: givenUp, leftOut, ...wanted, until: new Date(Date.now() + 1_000) }))
          .count,
      ).to.equal(120_000);
    });
  });

  it('health looks at 1,000 deliveries, and at 100,000 that wait', async () => {
    await expectBounded(205_000, async () => {
      expect(await lookAtAttempts(sql, 2, waiting)).to.include({ attempts: 0, pending: 100_000 });
    });
  });

  it('a batch of what is cancelled costs the batch', async () => {
    await expectBounded(20_000, () =>
      cancelBacklog({ sql, account: { id: 2 } }, waiting, 'cancelled_on_request', { kind: 'person' }),
    );
  });

  // Last, since its statistics change the plans of the others.
  it('a replay of missing events looks at 50,000 when it begins, and a batch of it costs the batch', async () => {
    await sql(`INSERT INTO event_feed (account_id, position, event_id)
      SELECT account_id, row_number() OVER (PARTITION BY account_id ORDER BY id), id FROM events`);
    await sql(
      `INSERT INTO event_feed_heads (account_id, position) SELECT account_id, max(position) FROM event_feed GROUP BY account_id`,
    );
    await sql(
      `UPDATE events SET created_at = now() - (320000 - id) * interval '1 second', account_payload = json_build_object('id', 6 + id % 600)`,
    );
    await sql(`INSERT INTO webhooks (id, account_id, url, subscriptions, secret)
      SELECT w, 1 + w / 3, 'https://example.com', '{contact_created,contact_updated}', '' FROM generate_series(1, 5) w`);
    await sql('ANALYZE');
    const wanted = { states: ['exhausted'] as const, leftOut: [], withMissing: true };
    const since = new Date(Date.now() - 100_000_000);
    const until = new Date(Date.now() - 90_000_000);
    const short = { endpoint: { kind: 'webhook', id: 5 } as const, since, until };
    await expectBounded(150_000, async () => {
      expect((await insertRecovery(sql, 2, { ...short, ...wanted })).missing).to.be.within(9_900, 10_100);
    });
    // All have one already: each is looked up.
    await expectBounded(1_000_000, async () => {
      const endpoint = { kind: 'webhook', id: 3 } as const;
      const all = { endpoint, since: new Date(0), until: new Date(Date.now() + 1_000) };
      expect((await insertRecovery(sql, 2, { ...all, ...wanted })).missing).to.equal(70_000);
    });
    const { id } = await insertRecovery(sql, 2, { ...short, ...wanted, since: new Date(0) });
    const step = { leftOut: [], formatted: [], isOn: async () => true };
    expect(await recoverSome(sql, id, step)).to.deep.equal({ due: null, more: true });
    for (let batch = 0; batch < 3; batch++)
      await expectBounded(25_000, async () => {
        expect(await recoverSome(sql, id, step)).to.deep.equal({ due: null, more: true });
      });
    expect((await findRecovery(sql, 2, { endpoint: short.endpoint, id }))?.made.pending).to.equal(6_000);
  });
});
