import { Client } from 'pg';

/** Runs a statement that locks something on a connection of its own, and holds the lock until the answer is called. */
export async function hold(url: string, statement: string, parameters: unknown[] = []): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  // A failed test ends with its database dropped.
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN');
  await client.query(statement, parameters);
  return () => client.end();
}

/** Keeps everybody else from changing the conversation. */
export function holdConversation(url: string, id: number): Promise<() => Promise<void>> {
  return hold(url, 'SELECT FROM conversations WHERE id = $1 FOR UPDATE', [id]);
}
