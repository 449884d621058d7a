import { Client } from 'pg';
import type { Sql } from '../postgres/sql.ts';

/** The settings of a connection. */
export interface SessionOptions {
  url: string;
  /** The name by which the server knows it. */
  name: string;
  /** Ends the connection, and with it the statement under way. */
  stopped?: AbortSignal;
}

// PostgreSQL has the last from 17 on.
const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'];

/** Calls `work` with a connection without the limits of time of its role, which are made for requests. */
export async function withSession<Result>(
  { url, name, stopped }: SessionOptions,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  stopped?.throwIfAborted();
  const client = new Client({ connectionString: url, application_name: name });
  // A connection that breaks fails its statement, too.
  client.on('error', () => undefined);
  const end = () => client.end().catch(() => undefined);
  const stop = (): void => void end();
  stopped?.addEventListener('abort', stop);
  try {
    await client.connect();
    await client.query(`SELECT set_config(name, '0', false) FROM pg_settings WHERE name = ANY ($1)`, [limits]);
    return await work(client);
  } catch (error) {
    stopped?.throwIfAborted();
    throw error;
  } finally {
    stopped?.removeEventListener('abort', stop);
    await end();
  }
}

/** Returns the connection as what runs statements. */
export function sqlOf(client: Client): Sql {
  return async (text, parameters) => (await client.query(text, parameters as unknown[])).rows as never;
}
