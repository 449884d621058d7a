import { expect } from 'chai';
import { migrate } from '../../src/postgres/migrate.ts';
import { query } from '../boot/helpers.ts';
import { createDatabaseOf010 } from '../support/release.ts';
import { dropDatabase } from '../support/postgres.ts';
import { rowsOf010 } from '../support/rows-of-010.ts';

/** Columns of 0.1.0 whose values an upgrade changes: upgrade-silence and upgrade.test.ts say how. */
const changed: readonly string[] = [
  'conversations.bot_silence',
  'invitations.closed_at',
  'webhooks.previous_secret',
  'webhooks.previous_secret_expires_at',
];
const columnsStatement = `
  SELECT table_name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) AS columns
  FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'migrations'
    AND table_name || '.' || column_name <> ALL ('{${changed.join()}}') GROUP BY 1 ORDER BY 1`;

describe('rows of 0.1.0, after an upgrade', () => {
  let url: string;
  const old = new Map<string, { columns: string; rows: string[] }>();

  const run = (statement: string) => query(url, statement);
  const read = async (table: string, columns: string): Promise<string[]> =>
    (await run(`SELECT ${columns} FROM ${table}`)).map((row) => JSON.stringify(row)).toSorted();

  before(async () => {
    url = await createDatabaseOf010();
    await run(rowsOf010);
    for (const { table_name: table, columns } of (await run(columnsStatement)) as Record<string, string>[])
      old.set(table!, { columns: columns!, rows: await read(table!, columns!) });
    await migrate(url);
  });

  after(() => dropDatabase(url));

  it('are all there, with the values they had', async () => {
    expect(old.size).to.equal(26);
    for (const [table, { columns, rows }] of old) {
      expect(rows, table).not.to.deep.equal([]);
      expect(await read(table, columns), table).to.deep.equal(rows);
    }
  });

  it('stand in the feed of their account in the order of their ids', async () => {
    const events = await run('SELECT account_id, id FROM events ORDER BY account_id, id');
    const places = await run(
      'SELECT account_id, event_id AS id, position FROM event_feed ORDER BY account_id, position',
    );
    expect(places.map(({ account_id, id }) => ({ account_id, id }))).to.deep.equal(events);
    const heads = await run('SELECT account_id, position, dropped FROM event_feed_heads ORDER BY account_id');
    const last = Map.groupBy(places, (place) => place['account_id']);
    expect(heads).to.deep.equal(
      [...last].map(([account, { length }]) => ({ account_id: account, position: length, dropped: 0 })),
    );
    expect(places.filter(({ account_id: account }) => account === 1).map(({ position }) => position)).to.deep.equal(
      last.get(1)!.map((_, index) => index + 1),
    );
  });

  it('are counted, by kind and assignee', async () => {
    const kinds = 'account_id, status, inbox_id, team_id, agent_bot_id';
    const counted = await run(`SELECT ${kinds}, total, assigned FROM conversation_counts WHERE assignee_id IS NULL`);
    const found = await run(
      `SELECT ${kinds}, count(*) AS total, count(assignee_id) AS assigned FROM conversations GROUP BY ${kinds}`,
    );
    expect(counted).to.have.deep.members(found);
    const ofAssignees = await run(
      'SELECT assignee_id, sum(total)::int AS total FROM conversation_counts WHERE assignee_id IS NOT NULL GROUP BY 1',
    );
    expect(ofAssignees).to.have.deep.members(
      await run(
        'SELECT assignee_id, count(*)::int AS total FROM conversations WHERE assignee_id IS NOT NULL GROUP BY 1',
      ),
    );
    expect(await run('SELECT FROM conversation_count_changes')).to.deep.equal([]);
  });

  it('of events without a conversation and a contact refer to their account, no others', async () => {
    const wrong = `SELECT id FROM events WHERE lone_account_id IS DISTINCT FROM
      CASE WHEN conversation_id IS NULL AND contact_id IS NULL THEN account_id END`;
    expect(await run(wrong)).to.deep.equal([]);
  });

  it('of webhooks keep the former secret that still signs, and let go of one that does not', async () => {
    const kept = await run(`SELECT url, older_secrets[0] ->> 'secret' AS secret,
        (older_secrets[0] ->> 'endsAt')::timestamptz > now() AS is_alive, older_secrets[0] ->> 'id' IS NOT NULL AS is_named
      FROM webhooks WHERE older_secrets <> '[]' ORDER BY id`);
    const alive = { url: 'https://hook.example.com', secret: 'before', is_alive: true, is_named: true };
    expect(kept).to.deep.equal([alive, alive, alive]);
  });

  it('of webhooks begin their history', async () => {
    const columns = 'active, subscriptions, inbox_id';
    expect(
      await run(`SELECT account_id, webhook_id AS id, ${columns}, epoch FROM webhook_versions ORDER BY webhook_id`),
    ).to.deep.equal(await run(`SELECT account_id, id, ${columns}, 1::bigint AS epoch FROM webhooks ORDER BY id`));
    expect(await run('SELECT account_id, epoch FROM webhook_epochs')).to.have.deep.members(
      await run('SELECT DISTINCT account_id, 1::bigint AS epoch FROM webhooks'),
    );
  });
});
