import { Client } from 'pg';
import type { TestApp } from './app.ts';

/** Runs a locking statement on a connection of its own; holds the lock until the returned function is called. */
export async function hold(url: string, statement: string, parameters: unknown[] = []): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  // After a failed test the database is dropped, which ends this connection.
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN');
  await client.query(statement, parameters);
  return () => client.end();
}

/** Locks the conversation's row. */
export function holdConversation(url: string, id: number): Promise<() => Promise<void>> {
  return hold(url, 'SELECT FROM conversations WHERE id = $1 FOR UPDATE', [id]);
}

/** Resolves when so many connections to the database wait for a lock. */
export async function untilWaiting(app: TestApp, count: number): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await app.eventually(async () => (await app.query(waiting)).length === count);
}
