import type { EntityManager } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { listDeliveries, type LogFilter } from '../../src/deliveries/queue/log.ts';
import { Database } from '../../src/postgres/database.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { sql } from '../../src/postgres/sql.ts';
import { entities } from '../../src/records/entities.ts';
import { systemClock } from '../../src/lib/ports.ts';
import { plansOf } from '../support/plans.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';

// 200,000 deliveries a second apart, the last one now, alternating between the two webhooks of the account; one in 5,000 was
// given up, and one in 10,000 failed and waits.
const seed = [
  `INSERT INTO accounts (name) VALUES ('Big')`,
  `INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
   SELECT 1, 'webhook', 1 + g % 2, 'contact', g, CASE WHEN g < 20 THEN now() END FROM generate_series(0, 1999) g`,
  `INSERT INTO events (account_id, name, account_payload)
   SELECT 1, CASE WHEN g % 1000 = 0 THEN 'contact_created' ELSE 'contact_updated' END, '{}' FROM generate_series(1, 200000) g`,
  `INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, failures, created_at)
   SELECT 1, g, 1 + g % 2000, 'webhook', 1 + g % 2,
     CASE g % 10000 WHEN 4999 THEN 'exhausted' WHEN 9999 THEN 'cancelled' WHEN 5001 THEN 'pending' ELSE 'delivered' END,
     CASE g % 10000 WHEN 5001 THEN 1 ELSE 0 END, now() - (200000 - g) * interval '1 second'
   FROM generate_series(1, 200000) g`,
  'ANALYZE',
];
const everything: LogFilter = {
  endpoint: null,
  state: null,
  event: null,
  conversationId: null,
  since: null,
  until: null,
  after: null,
};

describe('lists of deliveries among many', function () {
  this.timeout(120_000);
  let url: string;
  let database: Database;
  let em: EntityManager;

  before(async () => {
    url = await createDatabase(migrate);
    const told = { entities, warn: () => undefined, failed: () => undefined, clock: systemClock };
    const timeouts = { statementTimeoutMs: 60_000, lockTimeoutMs: 60_000, idleInTransactionTimeoutMs: 60_000 };
    database = new Database({ url, poolMax: 2, ...timeouts, retriesLocks: false, ...told });
    em = database.em();
    for (const statement of seed) await sql(em, statement);
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
      const plans = await plansOf(em, async () => {
        const { rows: page } = await listDeliveries(em, 1, { ...everything, ...filter });
        expect(page).to.have.length(found);
      });
      expect(plans.reduce((sum, plan) => sum + plan.rows, 0)).to.be.below(rows);
    });
  }
});
