import type { Pool, PoolClient } from 'pg';

/**
 * Makes the pool take back connections that broke while they were in use. Kysely gives the connection of a transaction
 * back only after a COMMIT or ROLLBACK that succeeded, so each transaction that an outage cuts short would keep its place
 * in the pool until none is left.
 */
export function takeBackBroken(pool: Pool): void {
  const inUse = new Set<PoolClient>();
  pool.on('acquire', (client) => inUse.add(client));
  pool.on('release', (_, client) => inUse.delete(client));
  pool.on('connect', (client) => {
    // A moment later, because whoever runs a single statement gives its connection back without help.
    client.once('end', () => setImmediate(() => inUse.has(client) && takeBack(client)));
  });
}

function takeBack(client: PoolClient): void {
  client.release(true);
  client.release = () => undefined;
}
