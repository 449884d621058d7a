import { expect } from 'chai';
import { Client } from 'pg';
import { hashToken } from '../../src/lib/secrets/tokens.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { createDatabaseOf010 } from '../support/release.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Conversations of 0.1.0: account, inbox, contact, source. */
const conversations: [account: number, inbox: number, contact: number, source: string | null][] = [
  [1, 1, 1, 'old'],
  [1, 1, 1, 'new'],
  [1, 1, 2, 'new'],
  [1, 2, 2, null],
  [1, 2, 1, 'new'],
  [2, 3, 5, 'new'],
  [1, 2, 3, ''],
];

async function fill(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`
      INSERT INTO accounts (name) VALUES ('First'), ('Second');
      INSERT INTO users (name, email, confirmed, platform_admin) VALUES ('Boss', 'boss@example.com', true, true);
      INSERT INTO agents (account_id, user_id, role) VALUES (1, 1, 'administrator'), (2, 1, 'administrator');
      INSERT INTO inboxes (account_id, name, channel_type, identifier) VALUES (1, 'Desk', 'Channel::Api', 'desk'),
        (1, 'Shop', 'Channel::WebWidget', 'shop'), (2, 'Theirs', 'Channel::Api', 'theirs');
      INSERT INTO contacts (account_id, name) VALUES (1, 'Ada'), (1, 'Bob'), (1, 'Cid'), (1, 'Dan'), (2, 'Eve');
      INSERT INTO contact_tokens (account_id, inbox_id, contact_id, token_hash) VALUES (1, 2, 4, 'a'), (1, 2, 4, 'b'), (1, 2, 3, 'c');`);
    await client.query(`INSERT INTO access_tokens (user_id, token_hash, last_four) VALUES (1, $1, 'last')`, [
      hashToken(adminToken),
    ]);
    for (const row of conversations) {
      await client.query(
        `INSERT INTO conversations (account_id, inbox_id, contact_id, source_id, status) VALUES ($1, $2, $3, $4, 'open')`,
        row,
      );
    }
  } finally {
    await client.end();
  }
}

describe('contacts of 0.1.0 and their inboxes, after an upgrade', () => {
  let app: TestApp;

  before(async () => {
    const databaseUrl = await createDatabaseOf010();
    await fill(databaseUrl);
    expect(await migrate(databaseUrl)).to.deep.equal(['20261124-0.2.0']);
    app = await TestApp.start({ engine: false, databaseUrl });
  });

  after(() => app.stop());

  const sources = async (account: number, contact: number): Promise<[number, string][]> => {
    const { body } = await app.get(`/api/v1/accounts/${account}/contacts/${contact}/contact_inboxes`);
    return body.payload.map((one: { inbox: { id: number }; source_id: string }) => [one.inbox.id, one.source_id]);
  };

  it('are known by what their newest conversation says, unless a later one of somebody else says the same', async () => {
    const [ada, bob] = [await sources(1, 1), await sources(1, 2)];
    expect(new Map(ada).get(2)).to.equal('new');
    expect(new Map(ada).get(1)).to.match(uuid);
    expect(new Map(bob).get(1)).to.equal('new');
    expect(new Map(bob).get(2)).to.match(uuid);
    expect([ada.length, bob.length]).to.deep.equal([2, 2]);
    expect(await sources(2, 5)).to.deep.equal([[3, 'new']]);
  });

  it('are known where they only had a session, or a conversation by an empty identifier', async () => {
    for (const contact of [3, 4]) {
      const known = await sources(1, contact);
      expect(known).to.have.lengthOf(1);
      expect(known[0]![0]).to.equal(2);
      expect(known[0]![1]).to.match(uuid);
    }
  });

  it('and only what was made admits', async () => {
    const rows = await app.query<{ source_id: string; admits: boolean }>(
      'SELECT source_id, admits FROM contact_inboxes',
    );
    expect(rows).to.have.lengthOf(7);
    for (const { source_id: source, admits } of rows) expect(admits, source).to.equal(uuid.test(source));
  });

  it('begin conversations by it', async () => {
    const { status, body } = await app.post('conversations', { inbox_id: 1, source_id: 'new' });
    expect([status, body.contact.id]).to.deep.equal([201, 2]);
  });
});
