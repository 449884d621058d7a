import { expect } from 'chai';
import { deleteOldRuns } from '../../src/domain/upkeep/retention.ts';
import { systemClock } from '../../src/lib/ports.ts';
import { Database } from '../../src/postgres/database.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import type { Sql } from '../../src/postgres/sql.ts';
import { plansOf, watched } from '../support/plans.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';

// 100,000 runs, one in ten seconds, the last one now: the first is eleven days and a half old.
const runs = 100_000;
const seed = [
  `INSERT INTO accounts (name) VALUES ('Big')`,
  `INSERT INTO agent_bots (account_id, name, kind, plugin_id, events) VALUES (1, 'Bot', 'plugin', 'faq', '{}')`,
  `INSERT INTO inboxes (account_id, name, channel_type, identifier) VALUES (1, 'Inbox', 'Channel::Api', 'i')`,
  `INSERT INTO contacts (account_id, name) VALUES (1, 'Customer')`,
  `INSERT INTO conversations (account_id, inbox_id, contact_id, status) VALUES (1, 1, 1, 'open')`,
  `INSERT INTO events (account_id, name, conversation_id, bot_payload)
   SELECT 1, 'message_created', 1, '{}' FROM generate_series(1, 1000)`,
  `INSERT INTO bot_runs (account_id, agent_bot_id, conversation_id, event_id, attempt, plugin_id, plugin_version, bundle_hash,
     config, seed, clock, outcome, actions, logs, wall_ms, created_at)
   SELECT 1, 1, 1, 1 + g % 1000, 1, 'faq', '1.0.0', 'hash', '{}', 1, now(), 'ok', '[]', '[]', 1,
     now() - (${runs} - g) * interval '10 seconds' FROM generate_series(1, ${runs}) g`,
  'ANALYZE',
];

describe('the retention of runs among many', function () {
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

  /** Deletes what is older; the most rows and index entries that a statement of it read, and how many were deleted. */
  async function deleted(days: number): Promise<{ count: number; read: number }> {
    let count = 0;
    const recorded = Object.defineProperty(Object.create(database) as Database, 'sql', { value: sql });
    Object.defineProperty(recorded, 'clock', { value: systemClock });
    const plans = await plansOf(sql, async () => {
      count = await deleteOldRuns(recorded, days);
    });
    return { count, read: Math.max(...plans.map(({ rows }) => rows)) };
  }

  it('reads next to nothing where nothing is old', async () => {
    const { count, read } = await deleted(30);
    expect(count).to.equal(0);
    expect(read).to.be.below(runs / 10);
  });

  it('reads what is old, and no more', async () => {
    const { count, read } = await deleted(11);
    expect(count).to.be.within(4_900, 5_000);
    expect(read).to.be.below(runs / 3);
  });
});
