import { setTimeout as sleep } from 'node:timers/promises';
import { mergeCountChanges } from '../../src/domain/upkeep/conversation-counts.ts';
import { system, type Actor } from '../../src/events/transaction.ts';
import { systemClock } from '../../src/lib/ports.ts';
import { Database } from '../../src/postgres/database.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import type { Sql } from '../../src/postgres/sql.ts';
import { rowsOf } from '../faults/helpers.ts';
import { scannedTables, watched, type Plan } from './plans.ts';
import { createDatabase, dropDatabase } from './postgres.ts';

export const administrator: Actor = { ...system, kind: 'user', id: 1, role: 'administrator' };
export const agent: Actor = { ...system, kind: 'user', id: 2, role: 'agent' };

// One account has 100,000 conversations and 40,000 messages with 20,000 contacts, another a fifth of that.
const seed = [
  `INSERT INTO accounts (name) VALUES ('Big'), ('Small')`,
  `INSERT INTO users (name, email) VALUES ('Administrator', 'a@example.com'), ('Agent', 'b@example.com'),
     ('Agent of the small inbox', 'c@example.com')`,
  `INSERT INTO seats (account_id, id, person_id, name, email) SELECT 1, id, id, name, email FROM users`,
  `INSERT INTO agents (account_id, user_id, role) VALUES (1, 1, 'administrator'), (1, 2, 'agent'), (1, 3, 'agent')`,
  `INSERT INTO agent_bots (account_id, name, kind, plugin_id, events) VALUES (1, 'Bot', 'plugin', 'faq', '{}')`,
  `INSERT INTO inboxes (account_id, name, channel_type, identifier, agent_bot_id)
   SELECT a, 'Inbox', 'Channel::Api', a || '-' || g, CASE WHEN a = 1 AND g = 2 THEN 1 END
   FROM generate_series(1, 2) a, generate_series(1, 5) g ORDER BY a, g`,
  `INSERT INTO inboxes (account_id, name, channel_type, identifier) VALUES (1, 'Small', 'Channel::Api', 'small')`,
  `INSERT INTO teams (account_id, name) VALUES (1, 'Half'), (1, 'Small')`,
  `INSERT INTO inbox_members (account_id, inbox_id, user_id) VALUES (1, 1, 2), (1, 2, 2), (1, 3, 2), (1, 11, 3)`,
  `INSERT INTO contacts (account_id, name, email, phone_number, identifier, custom_attributes, last_activity_at)
   SELECT CASE WHEN g <= 20000 THEN 1 ELSE 2 END, 'Customer ' || g, md5(g::text) || '@example.com', '+1415' || 1000000 + g,
     g || '@s.example', jsonb_build_object('chat', g || '@c.us'), now() - g * interval '1 second' FROM generate_series(1, 24000) g`,
  `INSERT INTO conversations (account_id, inbox_id, contact_id, status, assignee_id, team_id, created_at, updated_at, last_activity_at)
   SELECT CASE WHEN g <= 100000 THEN 1 ELSE 2 END, CASE WHEN g <= 100000 AND g % 500 = 3 THEN 11 WHEN g <= 100000 THEN 1 + g % 5 ELSE 6 + g % 5 END,
     CASE WHEN g <= 100000 THEN 1 + g % 20000 ELSE 20001 + g % 4000 END,
     CASE WHEN g % 10 < 6 THEN 'resolved' WHEN g % 10 < 9 THEN 'open' ELSE 'pending' END,
     CASE WHEN g <= 100000 AND g % 3 = 0 THEN 1 + g % 2 END,
     CASE WHEN g <= 100000 AND g % 400 = 0 THEN 2 WHEN g <= 100000 AND g % 2 = 0 THEN 1 END, now() - g * interval '1 minute',
     now() - g * 7919 % 100003 * interval '1 second', now() - g * 7907 % 100003 * interval '1 second'
   FROM generate_series(1, 120000) g`,
  `INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, private, created_at)
   SELECT CASE WHEN g <= 40000 THEN 1 ELSE 2 END, CASE WHEN g <= 40000 THEN 1 + g / 2 ELSE 100001 + g % 20000 END,
     'incoming', 'My order ' || md5(g::text) || ' is late' || CASE WHEN g % 1000 = 0 THEN ', I want a refund' ELSE '' END,
     'contact', g % 2000 = 0, now() - g * interval '1 second' FROM generate_series(1, 48000) g`,
];

/** A database with enough rows for plans to matter, and what drops it. */
export async function openPlanned(): Promise<{ database: Database; sql: Sql; drop: () => Promise<void> }> {
  const url = await createDatabase(migrate);
  // Statistics of every row, not of a sample that chance draws: the same data have the same plans in each run.
  await rowsOf(url, `ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET default_statistics_target = 1000`);
  const warn = () => undefined;
  const timeouts = { statementTimeoutMs: 60_000, lockTimeoutMs: 60_000, idleInTransactionTimeoutMs: 60_000 };
  const told = { warn, failed: warn };
  const database = new Database({ url, poolMax: 2, ...timeouts, retriesLocks: false, clock: systemClock, ...told });
  const sql = watched(database.sql);
  for (const statement of seed) await sql(statement);
  await mergeCountChanges(database);
  for (const table of ['contacts', 'conversations', 'messages', 'conversation_counts']) await vacuum(sql, table);
  const drop = async () => {
    await database.close();
    await dropDatabase(url);
  };
  return { database, sql, drop };
}

// The server's own look at a new table may keep rows from being known as visible to all for a moment.
async function vacuum(sql: Sql, table: string): Promise<void> {
  for (let left = 40; left > 0; left--) {
    await sql(`VACUUM ANALYZE ${table}`);
    const unseen = await sql('SELECT FROM pg_class WHERE relname = $1 AND relallvisible < relpages', [table]);
    if (unseen.length === 0) return;
    await sleep(250);
  }
  throw new Error(`Not all of ${table} is visible`);
}

/** The large tables that the plans scan sequentially. */
export function fullScansOf(plans: readonly Plan[]): string[] {
  const tables = plans.flatMap(scannedTables);
  return ['conversations', 'messages', 'contacts'].filter((table) => tables.includes(table));
}
