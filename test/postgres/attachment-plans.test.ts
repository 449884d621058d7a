import { expect } from 'chai';
import { AttachmentStore, findFile } from '../../src/domain/attachments/store.ts';
import { deleteUnsentFiles } from '../../src/domain/upkeep/unsent-files.ts';
import { systemClock, systemRandom } from '../../src/lib/ports.ts';
import { Database } from '../../src/postgres/database.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import type { Sql } from '../../src/postgres/sql.ts';
import { findMessages } from '../../src/records/messages/message.ts';
import { indexesOf, plansOf, scannedTables, watched, type Plan } from '../support/plans.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';

const messages = 50_000;
const seed = [
  `INSERT INTO accounts (name) VALUES ('Big')`,
  `INSERT INTO inboxes (account_id, name, channel_type, identifier) VALUES (1, 'Inbox', 'Channel::Api', 'i')`,
  `INSERT INTO contacts (account_id, name) VALUES (1, 'Customer')`,
  `INSERT INTO conversations (account_id, inbox_id, contact_id, status) SELECT 1, 1, 1, 'open' FROM generate_series(1, 500)`,
  `INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, attachments, created_at)
   SELECT 1, 1 + g % 500, 'incoming', 'A file', 'contact', jsonb_build_array(jsonb_build_object('id', g, 'name', 'a.txt', 'type',
     'text/plain', 'size', 9, 'width', null, 'height', null)), now() - g * interval '1 second'
   FROM generate_series(1, ${messages}) g`,
  `INSERT INTO attachments (id, account_id, conversation_id, message_id)
   SELECT (m.attachments->0->>'id')::bigint, 1, m.conversation_id, m.id FROM messages m`,
  `INSERT INTO attachments (id, account_id, created_at)
   SELECT 1000000 + g, 1, now() - g * interval '1 minute' FROM generate_series(1, 90) g`,
  `INSERT INTO attachment_chunks (account_id, attachment_id, position, bytes)
   SELECT 1, id, 0, 'some text'::bytea FROM attachments`,
  'ANALYZE',
];

describe('plans of files', function () {
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

  function expectFew(plans: readonly Plan[], rows: number): void {
    expect(plans).to.not.be.empty;
    for (const plan of plans) {
      expect(scannedTables(plan)).to.deep.equal([]);
      expect(plan.rows).to.be.at.most(rows);
    }
  }

  it('find a file and read it by keys', async () => {
    const file = await findFile(sql, { accountId: 1, id: 25_000 });
    expect(file).to.include({ accountId: 1, id: 25_000, name: 'a.txt' });
    expectFew(await plansOf(sql, () => findFile(sql, { accountId: 1, id: 25_000 })), 3);
    const store = new AttachmentStore(
      { bytes: 1, perMessage: 1 },
      { objects: null, random: systemRandom, failed: () => undefined },
    );
    const read = async () => (await store.read(file!, { from: 0, to: 8 }, (work) => work(sql))).toArray();
    expect(Buffer.concat(await read()).toString()).to.equal('some text');
    expectFew(await plansOf(sql, read), 1);
  });

  it('list messages without the tables of files', async () => {
    const plans = await plansOf(sql, () => findMessages(sql, 1, 7, {}));
    expect(plans.flatMap(indexesOf).filter((name) => name.startsWith('attachment'))).to.deep.equal([]);
    expect(plans.flatMap(({ steps }) => steps.map((step) => step['Relation Name'] ?? ''))).to.not.include(
      'attachments',
    );
  });

  it('find files without a message among many that have one', async () => {
    const recorded = Object.defineProperty(Object.create(database) as Database, 'sql', { value: sql });
    Object.defineProperty(recorded, 'clock', { value: systemClock });
    let count = 0;
    const plans = await plansOf(sql, async () => {
      count = await deleteUnsentFiles(recorded);
    });
    expect(count).to.equal(31);
    expectFew(plans, 100);
  });
});
