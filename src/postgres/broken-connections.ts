import type { Pool, PoolClient } from 'pg';

/**
 * Releases connections that break while they are in use. Kysely releases the connection of a transaction only after a
 * successful COMMIT or ROLLBACK, so that every transaction interrupted by an outage would occupy a place in the pool
 * for ever.
 */
export function takeBackBroken(pool: Pool): void {
  const inUse = new Set<PoolClient>();
  pool.on('acquire', (client) => inUse.add(client));
  pool.on('release', (_, client) => inUse.delete(client));
  pool.on('connect', (client) => {
    // Delayed, because Kysely itself releases the connection of a single statement after this event.
    client.once('end', () => setImmediate(() => inUse.has(client) && takeBack(client)));
  });
}

function takeBack(client: PoolClient): void {
  client.release(true);
  client.release = () => undefined;
}
