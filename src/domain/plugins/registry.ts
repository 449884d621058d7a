import type { OuterTransaction } from '../../events/transaction.ts';
import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import { isRunnable } from './rows.ts';

/**
 * Begins a change of plugins: concurrent changes wait until its transaction ends, and every process reads the plugins again
 * after the commit.
 */
export async function beginChange(tx: OuterTransaction): Promise<void> {
  tx.announce('plugins', null);
  await tx.sql('UPDATE plugin_registry SET revision = revision + 1');
}

const revisionStatement = prepared('SELECT revision FROM plugin_registry');

/** Returns a number that grows with every change of plugins. */
export async function readRevision(sql: Sql): Promise<number> {
  const [row] = await sql<{ revision: number }>(revisionStatement);
  return row?.revision ?? 0;
}

/** Running version of a plugin. */
export interface Runnable {
  version: string;
  hash: string;
}

/** Returns the running versions by plugin id, for all plugins that can run. */
export async function readRunnable(sql: Sql): Promise<Map<string, Runnable>> {
  const rows = await sql<Runnable & { id: string }>(
    `SELECT p.id, b.version, b.hash FROM plugins p JOIN plugin_bundles b ON b.hash = p.active_hash
     WHERE ${isRunnable} ORDER BY p.id`,
  );
  return new Map(rows.map(({ id, version, hash }) => [id, { version, hash }]));
}

/** Returns manifest (text) and code with this hash; null when they are not stored. */
export async function findBundle(sql: Sql, hash: string): Promise<{ manifest: string; code: string } | null> {
  const [row] = await sql<{ manifest: string; code: string }>(
    'SELECT manifest, code FROM plugin_bundles WHERE hash = $1',
    [hash],
  );
  return row ?? null;
}

/** Returns the hashes whose version runs while no other one is pending. */
export async function findSettled(sql: Sql, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ hash: string }>(
    'SELECT active_hash AS hash FROM plugins WHERE active_hash = ANY ($1) AND pending_hash IS NULL',
    [hashes],
  );
  return new Set(rows.map(({ hash }) => hash));
}

/** Returns the hashes whose code is stored, which has loaded during its installation. */
export async function findStored(sql: Sql, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ hash: string }>('SELECT hash FROM plugin_bundles WHERE hash = ANY ($1)', [hashes]);
  return new Set(rows.map(({ hash }) => hash));
}
