import type { OuterTransaction } from '../../events/transaction.ts';
import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import { isRunnable } from './rows.ts';

/**
 * Begins a change of plugins: such changes wait for each other until their transactions end, and every process looks at the
 * plugins again after the commit.
 */
export async function beginChange(tx: OuterTransaction): Promise<void> {
  tx.announce('plugins', null);
  await tx.sql('UPDATE plugin_registry SET revision = revision + 1');
}

const revisionStatement = prepared('SELECT revision FROM plugin_registry');

/** A number that grows with every change of plugins. */
export async function readRevision(sql: Sql): Promise<number> {
  const [row] = await sql<{ revision: number }>(revisionStatement);
  return row?.revision ?? 0;
}

/** Which version of a plugin runs. */
export interface Runnable {
  version: string;
  hash: string;
}

/** What runs, by plugin id, for all plugins that can run. */
export async function readRunnable(sql: Sql): Promise<Map<string, Runnable>> {
  const rows = await sql<Runnable & { id: string }>(
    `SELECT p.id, b.version, b.hash FROM plugins p JOIN plugin_bundles b ON b.hash = p.active_hash
     WHERE ${isRunnable} ORDER BY p.id`,
  );
  return new Map(rows.map(({ id, version, hash }) => [id, { version, hash }]));
}

/** Manifest (text) and code with this hash; null when they are not stored. */
export async function findBundle(sql: Sql, hash: string): Promise<{ manifest: string; code: string } | null> {
  const [row] = await sql<{ manifest: string; code: string }>(
    'SELECT manifest, code FROM plugin_bundles WHERE hash = $1',
    [hash],
  );
  return row ?? null;
}

/** Those of the hashes that run, with nothing that waits for approval. */
export async function findSettled(sql: Sql, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ hash: string }>(
    'SELECT active_hash AS hash FROM plugins WHERE active_hash = ANY ($1) AND pending_hash IS NULL',
    [hashes],
  );
  return new Set(rows.map(({ hash }) => hash));
}

/** Those of the hashes whose code is stored: it loaded when it was installed. */
export async function findStored(sql: Sql, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ hash: string }>('SELECT hash FROM plugin_bundles WHERE hash = ANY ($1)', [hashes]);
  return new Set(rows.map(({ hash }) => hash));
}
