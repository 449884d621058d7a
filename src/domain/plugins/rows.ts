import { parseManifestText, type Manifest } from '../../packages/manifest.ts';
import { moment, sql, type Executor } from '../../postgres/sql.ts';

/** An installed version of a plugin. */
export interface PluginVersion {
  version: string;
  /** The SHA-256 of manifest and code. */
  hash: string;
  manifest: Manifest;
}

/** A plugin of the service. */
export interface Plugin {
  id: string;
  /** Whether it was uploaded as an archive, or is read from a folder of PLUGIN_DIRS. */
  source: 'archive' | 'folder';
  /** Its folder, for example `bots/faq`; null for an archive. */
  directory: string | null;
  /** False for a plugin whose folder was not there at the last start. */
  isPresent: boolean;
  enabled: boolean;
  /** The version that runs; null while none was approved. */
  active: PluginVersion | null;
  /** The version that waits for approval. */
  pending: PluginVersion | null;
  createdAt: Date;
  updatedAt: Date;
}

interface Row {
  id: string;
  source: Plugin['source'];
  directory: string | null;
  is_present: boolean;
  enabled: boolean;
  active_hash: string | null;
  active_manifest: string | null;
  pending_hash: string | null;
  pending_manifest: string | null;
  created_at: string;
  updated_at: string;
}

/** A condition on `p` (plugins): its version can run. */
export const isRunnable = 'p.enabled AND p.is_present AND p.active_hash IS NOT NULL';

const selection = `
  SELECT p.*, a.manifest AS active_manifest, w.manifest AS pending_manifest FROM plugins p
  LEFT JOIN plugin_bundles a ON a.hash = p.active_hash
  LEFT JOIN plugin_bundles w ON w.hash = p.pending_hash`;

/** The plugin with the id, or null. */
export async function findPlugin(executor: Executor, id: string): Promise<Plugin | null> {
  const [row] = await sql<Row>(executor, `${selection} WHERE p.id = $1`, [id]);
  return row ? toPlugin(row) : null;
}

/** The plugin with the id, if its version can run; otherwise null. */
export async function findRunnable(
  executor: Executor,
  id: string,
): Promise<(Plugin & { active: PluginVersion }) | null> {
  const plugin = await findPlugin(executor, id);
  if (!plugin?.active || !plugin.enabled || !plugin.isPresent) return null;
  return { ...plugin, active: plugin.active };
}

function toPlugin(row: Row): Plugin {
  return {
    id: row.id,
    source: row.source,
    directory: row.directory,
    isPresent: row.is_present,
    enabled: row.enabled,
    active: toVersion(row.active_hash, row.active_manifest),
    pending: toVersion(row.pending_hash, row.pending_manifest),
    createdAt: moment(row.created_at),
    updatedAt: moment(row.updated_at),
  };
}

function toVersion(hash: string | null, text: string | null): PluginVersion | null {
  if (hash === null || text === null) return null;
  const manifest = parseManifestText(text);
  return { version: manifest.version, hash, manifest };
}
