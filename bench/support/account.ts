import { migrate } from '../../src/postgres/migrate.ts';
import { migrations } from '../../src/postgres/migrations/index.ts';
import { hashToken, lastFour } from '../../src/lib/secrets/tokens.ts';
import type { Client } from 'pg';
import { withClient } from './database.ts';
import { token } from './service.ts';

/** Stands in a sixth of the generated messages. */
export const frequentWord = 'refund';
/** Stands in one of a thousand generated messages. */
export const rareWord = 'xylophone';

const people = `
  INSERT INTO accounts (name) VALUES ('Grown');
  INSERT INTO users (name, email, confirmed, platform_admin)
    SELECT 'Agent ' || n, n || '@example.com', true, n = 1 FROM generate_series(1, 20) n;
  INSERT INTO agents (account_id, user_id, role)
    SELECT 1, id, CASE WHEN id = 1 THEN 'administrator' ELSE 'agent' END FROM users;
  INSERT INTO inboxes (account_id, name, channel_type, identifier)
    SELECT 1, 'Inbox ' || n, 'Channel::Api', 'inbox-' || n FROM generate_series(1, 10) n;
  INSERT INTO teams (account_id, name) SELECT 1, 'Team ' || n FROM generate_series(1, 4) n;`;

const contacts = `
  INSERT INTO contacts (account_id, name, email)
  SELECT 1, 'Customer ' || n, n || '@customers.example.com' FROM generate_series(1, greatest(1, $1::int / 5)) n`;

const conversations = `
  INSERT INTO conversations (account_id, inbox_id, contact_id, status, snoozed_until, assignee_id, team_id, created_at,
    updated_at, last_activity_at)
  SELECT 1, 1 + n % 10, 1 + n % greatest(1, $1 / 5),
    CASE WHEN $2::timestamptz IS NOT NULL THEN 'snoozed' WHEN n % 10 < 6 THEN 'resolved' WHEN n % 10 < 9 THEN 'open'
      ELSE 'pending' END, $2,
    CASE WHEN n % 3 = 0 THEN 1 + n % 20 END, CASE WHEN n % 7 = 0 THEN 1 + n % 4 END,
    now() - n * interval '20 seconds', now() - n * 7919 % 1000003 * interval '20 seconds',
    now() - n * 7907 % 1000003 * interval '20 seconds'
  FROM generate_series(1, $1::bigint) n`;

const messages = `
  INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, sender_id, created_at)
  SELECT 1, n, 'incoming', 'My order ' || md5(n::text) || ' is late'
      || CASE WHEN n % 6 = 0 THEN ', I want a ${frequentWord}' ELSE '' END
      || CASE WHEN n % 1000 = 7 THEN ' for my ${rareWord}' ELSE '' END,
    'contact', 1 + n % greatest(1, $1 / 5), now() - n * 7907 % 1000003 * interval '20 seconds'
  FROM generate_series(1, $1::bigint) n`;

/**
 * Makes account 1 with so many conversations and as many messages. They are written into the tables of the first release
 * and carried over by the migrations since, so that whatever is kept beside the rows is right. With `snoozedUntil` all of
 * them are asleep until then.
 */
export async function generateAccount(databaseUrl: string, rows: number, snoozedUntil?: Date): Promise<void> {
  await migrate(databaseUrl, migrations.slice(0, 1));
  await withClient(databaseUrl, async (client) => {
    await client.query(people);
    await client.query('INSERT INTO access_tokens (user_id, token_hash, last_four) VALUES (1, $1, $2)', [
      hashToken(token),
      lastFour(token),
    ]);
    const indexes = await takeIndexes(client);
    await client.query(contacts, [rows]);
    await client.query(conversations, [rows, snoozedUntil ?? null]);
    await client.query(messages, [rows]);
    for (const index of indexes) await client.query(index);
  });
  await migrate(databaseUrl);
  await withClient(databaseUrl, (client) => client.query('VACUUM ANALYZE'));
}

/** Drops the indexes that rows are slow to go into one by one; answers the statements that make them again. */
async function takeIndexes(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; statement: string }>(
    `SELECT c.oid::regclass::text AS name, pg_get_indexdef(c.oid) AS statement
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE i.indrelid IN ('conversations'::regclass, 'messages'::regclass, 'contacts'::regclass) AND NOT i.indisunique`,
  );
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  return rows.map(({ statement }) => statement);
}
