import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../../src/postgres/embedded/start.ts';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Gives the work a PostgreSQL of its own that waits for the disk, as a service's does, and removes it afterwards. */
export async function withDatabase<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  return withFolder(async (dataDir) => {
    const postgres = await startEmbeddedPostgres({ dataDir, log: silent });
    try {
      return await work(postgres.url);
    } finally {
      await postgres.stop();
    }
  });
}

/** Gives the work an empty folder and removes it afterwards. */
export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-bench-'));
  // Where root runs the bench, PostgreSQL's account must pass: its data would be put elsewhere, and stay there.
  await chmod(folder, 0o711);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Gives the work a connection. */
export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  // A bench that took too long loses its database while it still asks.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
