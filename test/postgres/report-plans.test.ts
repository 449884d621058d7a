import { expect } from 'chai';
import { readOldestPending } from '../../src/deliveries/log/activity.ts';
import { readActivity } from '../../src/domain/reports.ts';
import { countActivity, deleteOldCounts } from '../../src/domain/upkeep/activity-counts.ts';
import { systemClock } from '../../src/lib/ports.ts';
import { Database } from '../../src/postgres/database.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import type { Sql } from '../../src/postgres/sql.ts';
import { plansOf, watched, type Plan } from '../support/plans.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';

// 300 accounts with hours of a year; the first with 100,000 events that are counted but for the last 100, and as many
// attempts; of its deliveries 2,000 wait, each in a lane.
const seed = [
  `INSERT INTO accounts (name) SELECT 'Account ' || g FROM generate_series(1, 300) g`,
  `INSERT INTO report_hours (account_id, hour, measure, count)
   SELECT a, date_trunc('hour', now()) - make_interval(hours => h), m, 1
   FROM generate_series(1, 300) a, generate_series(0, 8700, 24) h, unnest(ARRAY['messages:customers', 'attempts:all', 'ms:20']) m`,
  `INSERT INTO webhooks (account_id, url, secret, subscriptions) VALUES (1, 'https://example.com', 'sealed', '{contact_created}')`,
  `INSERT INTO events (account_id, name, account_payload)
   SELECT 1, 'message_created', '{"message_type":"incoming","private":false}' FROM generate_series(1, 100000)`,
  `INSERT INTO event_feed (account_id, position, event_id) SELECT 1, g, g FROM generate_series(1, 100000) g`,
  `INSERT INTO event_feed_heads (account_id, position) SELECT g, 100000 FROM generate_series(1, 300) g`,
  `INSERT INTO report_feeds (account_id, position) SELECT g, CASE g WHEN 1 THEN 99900 ELSE 100000 END FROM generate_series(1, 300) g`,
  `INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
   SELECT 1, 'webhook', 1, 'contact', g, CASE WHEN g <= 2000 THEN now() END FROM generate_series(1, 20000) g`,
  `INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, created_at)
   SELECT 1, g, 1 + (g - 1) % 20000, 'webhook', 1, CASE WHEN (g - 1) % 20000 < 2000 THEN 'pending' ELSE 'delivered' END,
     now() - interval '1 hour' FROM generate_series(1, 100000) g`,
  `INSERT INTO attempts (account_id, delivery_id, number, outcome, status, duration_ms, wire)
   SELECT 1, g, 1, 'delivered', 200, 30, '{}' FROM generate_series(1, 100000) g`,
  `UPDATE report_progress SET counted_to = 99950, seen_to = 99990, seen_xid = '0'`,
  'ANALYZE',
];

describe('reports among many', function () {
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

  const most = (plans: readonly Plan[]) => Math.max(...plans.map(({ rows }) => rows));

  it('are read from the hours of the account and of the time alone', async () => {
    const until = new Date();
    const since = new Date(until.getTime() - 30 * 24 * 3_600_000);
    let found = 0;
    const plans = await plansOf(sql, async () => {
      found = (await readActivity(sql, 1, { since, until, by: 'day' })).length;
    });
    expect(found).to.be.within(29, 31);
    // Three rows a day are there, and an index entry of each.
    expect(most(plans)).to.be.at.most(2 * 31 * 3);
  });

  it('find the oldest delivery that waits without a look at those that arrived', async () => {
    const plans = await plansOf(sql, async () => {
      expect(await readOldestPending(sql, 1)).to.be.an.instanceOf(Date);
    });
    // Of each lane that waits the entry, the row, and its oldest delivery with its entry.
    expect(most(plans)).to.be.at.most(4 * 2_000 + 10);
  });

  it('are counted from what is new, and nothing else is looked at', async () => {
    const recorded = Object.defineProperty(Object.create(database) as Database, 'sql', { value: sql });
    Object.defineProperty(recorded, 'clock', { value: systemClock });
    // Each statement is explained by being run once more: it then has the same to do.
    const again = async (): Promise<void> => {
      await database.sql('UPDATE report_feeds SET position = 99900 WHERE account_id = 1');
      await database.sql(`UPDATE report_progress SET counted_to = 99950, seen_to = 99990, seen_xid = '0'`);
    };
    const plans = await plansOf(sql, async () => {
      await countActivity(recorded);
      await again();
    });
    const [behind, events, attempts, see, sample] = plans;
    expect(plans).to.have.length(5);
    expect(sample!.rows).to.be.at.most(4 * 2_000 + 310);
    expect(behind!.rows).to.be.at.most(600);
    // 100 places with their events, read once and summed up in a few steps.
    expect(events!.rows).to.be.within(200, 2_000);
    expect(attempts!.rows).to.be.within(40, 400);
    expect(see!.rows).to.be.at.most(10);
    const [counted] = await sql<{ events: number; attempts: number }>(
      `SELECT sum(count)::int AS events, (SELECT counted_to FROM report_progress) AS attempts
       FROM report_hours WHERE account_id = 1 AND measure = 'messages:customers'`,
    );
    // The account had 363 before.
    expect(counted).to.deep.equal({ events: 363 + 2 * 100, attempts: 99_990 });
  });

  it('are deleted by their age from an index', async () => {
    const recorded = Object.defineProperty(Object.create(database) as Database, 'sql', { value: sql });
    let deleted = -1;
    const plans = await plansOf(sql, async () => {
      deleted = await deleteOldCounts(recorded, 400);
    });
    expect(deleted).to.equal(0);
    expect(most(plans)).to.be.at.most(10);
    expect(await deleteOldCounts(recorded, 340)).to.be.within(19_000, 24_000);
  });
});
