import type { OuterTransaction } from '../../events/transaction.ts';
import { prepared } from '../../postgres/prepared.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import { isRunnable } from './rows.ts';

/**
 * Begins a change of plugins: such changes wait for each other until their transactions end, and every process looks at the
 * plugins again after the commit.
 */
export async function beginChange(tx: OuterTransaction): Promise<void> {
  tx.announcePlugins();
  await sql(tx.em, 'UPDATE plugin_registry SET revision = revision + 1');
}

const revisionStatement = prepared('SELECT revision FROM plugin_registry');

/** A number that grows with every change of plugins. */
export async function readRevision(executor: Executor): Promise<number> {
  const [row] = await sql<{ revision: number }>(executor, revisionStatement);
  return row?.revision ?? 0;
}

/** Which version of a plugin runs. */
export interface Runnable {
  version: string;
  hash: string;
}

/** What runs, by plugin id, for all plugins that can run. */
export async function readRunnable(executor: Executor): Promise<Map<string, Runnable>> {
  const rows = await sql<Runnable & { id: string }>(
    executor,
    `SELECT p.id, b.version, b.hash FROM plugins p JOIN plugin_bundles b ON b.hash = p.active_hash
     WHERE ${isRunnable} ORDER BY p.id`,
  );
  return new Map(rows.map(({ id, version, hash }) => [id, { version, hash }]));
}

/** Manifest (text) and code with this hash; null when they are not stored. */
export async function findBundle(executor: Executor, hash: string): Promise<{ manifest: string; code: string } | null> {
  const [row] = await sql<{ manifest: string; code: string }>(
    executor,
    'SELECT manifest, code FROM plugin_bundles WHERE hash = $1',
    [hash],
  );
  return row ?? null;
}

/** Those of the hashes whose code is stored: it loaded when it was installed. */
export async function findStored(executor: Executor, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ hash: string }>(executor, 'SELECT hash FROM plugin_bundles WHERE hash = ANY ($1)', [hashes]);
  return new Set(rows.map(({ hash }) => hash));
}
