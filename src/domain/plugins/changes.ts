import { ApiError, invalid } from '../../errors.ts';
import type { OuterTransaction } from '../../events/transaction.ts';
import { readStoredManifest } from '../../packages/manifest/manifest.ts';
import type { Sql } from '../../postgres/sql.ts';
import { ofFolder } from './install.ts';
import type { Judged } from './misfits.ts';
import type { Seal } from './open-settings.ts';
import { beginChange } from './registry.ts';
import { readPlugin, type Plugin, type PluginVersion } from './rows.ts';
import { activate, markBots, useVersion } from './versions.ts';

/** Version that an administrator looked at. */
interface LookedAt {
  version: string;
  hash: string;
}

/** Services for a change of the running version. */
interface Changing {
  seal: Seal;
  judged: Judged;
}

/** Bots that a refusal names; it counts the others. */
const maxNamed = 10;

/**
 * Activates the pending version of the plugin. Errors: 404; 409 unless exactly this version with this hash is pending.
 */
export async function approveVersion(
  tx: OuterTransaction,
  id: string,
  looked: LookedAt,
  options: Changing,
): Promise<Plugin> {
  const { pending } = await readWaiting(tx, id, looked);
  await activate(tx, pending, options);
  return readPlugin(tx.sql, id);
}

/**
 * Withdraws the pending version: it stays installed, and the running one continues. Errors: as for approveVersion; 409 for a
 * plugin of a folder.
 */
export async function rejectVersion(tx: OuterTransaction, id: string, looked: LookedAt): Promise<Plugin> {
  const plugin = await readWaiting(tx, id, looked);
  if (plugin.source === 'folder') throw ofFolder(plugin);
  await tx.sql('UPDATE plugins SET pending_hash = NULL, updated_at = $2 WHERE id = $1', [id, tx.now]);
  return readPlugin(tx.sql, id);
}

async function readWaiting(
  tx: OuterTransaction,
  id: string,
  { version, hash }: LookedAt,
): Promise<Plugin & { pending: PluginVersion }> {
  const plugin = await readForChange(tx, id);
  const { pending } = plugin;
  if (!pending) throw notPending(`No version of \`${id}\` waits for approval`);
  if (pending.version === version && pending.hash === hash) return { ...plugin, pending };
  const waiting = `version ${pending.version} with the hash ${pending.hash}`;
  throw notPending(`Of \`${id}\` another one waits for approval: ${waiting}`);
}

/** Enables or disables a plugin: bots of a disabled one do not answer, and agents get their conversations. Errors: 404. */
export async function setEnabled(tx: OuterTransaction, id: string, enabled: boolean): Promise<Plugin> {
  await readForChange(tx, id);
  await tx.sql('UPDATE plugins SET enabled = $2, updated_at = $3 WHERE id = $1 AND enabled <> $2', [
    id,
    enabled,
    tx.now,
  ]);
  await markBots(tx.sql, id);
  return readPlugin(tx.sql, id);
}

/**
 * Activates another installed version of the plugin, or makes it wait for approval. The running version is accepted too: no
 * version is pending then. Errors: 404; 409 for a plugin of a folder; 422 for a version that is not installed.
 */
export async function chooseVersion(
  tx: OuterTransaction,
  id: string,
  version: string,
  options: Changing,
): Promise<Plugin> {
  const plugin = await readForChange(tx, id);
  if (plugin.source === 'folder') throw ofFolder(plugin);
  const found = await findVersion(tx.sql, id, version);
  if (!found) throw invalid('/version', 'installed', `Version ${version} of \`${id}\` is not installed`);
  await useVersion(tx, plugin, found, options);
  return readPlugin(tx.sql, id);
}

/**
 * Uninstalls a plugin. Its code is kept while runs refer to it. Errors: 404; 409 while bots use it, or while it has a folder.
 */
export async function uninstall(tx: OuterTransaction, id: string): Promise<void> {
  const plugin = await readForChange(tx, id);
  if (plugin.source === 'folder' && plugin.isPresent) throw ofFolder(plugin);
  await checkUnused(tx, id);
  await tx.sql('DELETE FROM plugins WHERE id = $1', [id]);
  await tx.sql('UPDATE plugin_bundles SET released_at = $2 WHERE plugin_id = $1 AND released_at IS NULL', [id, tx.now]);
}

async function readForChange(tx: OuterTransaction, id: string): Promise<Plugin> {
  await beginChange(tx);
  return readPlugin(tx.sql, id);
}

function notPending(sentence: string): ApiError {
  return new ApiError(409, 'not_pending', sentence);
}

/** Returns an installed version of a plugin; null when there is none. */
export async function findVersion(sql: Sql, id: string, version: string): Promise<PluginVersion | null> {
  const [found] = await sql<{ hash: string; manifest: string }>(
    'SELECT hash, manifest FROM plugin_bundles WHERE plugin_id = $1 AND version = $2 AND released_at IS NULL',
    [id, version],
  );
  return found ? { version, hash: found.hash, manifest: readStoredManifest(found.manifest) } : null;
}

async function checkUnused({ sql }: OuterTransaction, id: string): Promise<void> {
  const bots = await sql<{ id: number; name: string; account: number | null; count: number }>(
    `SELECT id, name, account_id AS account, count(*) OVER () AS count FROM agent_bots WHERE plugin_id = $1
     ORDER BY id LIMIT $2`,
    [id, maxNamed],
  );
  const [first] = bots;
  if (!first) return;
  const names = bots.map(
    (bot) => `${bot.name} (bot ${bot.id}, ${bot.account ? `account ${bot.account}` : 'of the system'})`,
  );
  const more = first.count > bots.length ? [`${first.count - bots.length} more`] : [];
  throw new ApiError(
    409,
    'in_use',
    `Bots use the plugin \`${id}\`: ${[...names, ...more].join(', ')}. Delete them first`,
  );
}
