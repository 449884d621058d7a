import { notFound } from '../../errors.ts';
import { readStoredManifest, type PluginManifest } from '../../packages/manifest/manifest.ts';
import { moment, momentOrNull, type Sql } from '../../postgres/sql.ts';

/** An installed version of a plugin. */
export interface PluginVersion {
  version: string;
  /** The SHA-256 of manifest and code. */
  hash: string;
  manifest: PluginManifest;
}

/** An npm package in the code of a version. */
interface PackageRow {
  name: string;
  version: string;
  license: string | null;
  bytes: number;
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
  /** Package and range of the npm registry from which its running version came, else the one that waits; null for none. */
  origin: string | null;
  /** npm packages in that version. */
  packages: readonly PackageRow[];
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
  origin: string | null;
  packages: PackageRow[] | null;
  created_at: string;
  updated_at: string;
}

const perPage = 25;

/** A condition on `p` (plugins): its version can run. */
export const isRunnable = 'p.enabled AND p.is_present AND p.active_hash IS NOT NULL';

const selection = `
  SELECT p.*, a.manifest AS active_manifest, w.manifest AS pending_manifest,
    CASE WHEN a.hash IS NULL THEN w.origin ELSE a.origin END AS origin, coalesce(a.packages, w.packages) AS packages FROM plugins p
  LEFT JOIN plugin_bundles a ON a.hash = p.active_hash
  LEFT JOIN plugin_bundles w ON w.hash = p.pending_hash`;

/** A page of a list; pages count from 1, `count` is the number of rows on all pages. */
interface Page<Listed> {
  rows: Listed[];
  count: number;
  page: number;
  perPage: number;
}

/** The plugin with the id, or null. */
export async function findPlugin(sql: Sql, id: string): Promise<Plugin | null> {
  const [row] = await sql<Row>(`${selection} WHERE p.id = $1`, [id]);
  return row ? toPlugin(row) : null;
}

/** The plugin with the id, if it has a version. Errors: 404. */
export async function readPlugin(sql: Sql, id: string): Promise<Plugin> {
  const plugin = await findPlugin(sql, id);
  if (!plugin?.active && !plugin?.pending) throw notFound('Plugin');
  return plugin;
}

/** A page of the plugins that have a version, ordered by id; with `runnable` only of those that bots can run. */
export async function listPlugins(
  sql: Sql,
  page: number,
  { runnable = false }: { runnable?: boolean } = {},
): Promise<Page<Plugin>> {
  const where = runnable ? isRunnable : '(p.active_hash IS NOT NULL OR p.pending_hash IS NOT NULL)';
  const [counted] = await sql<{ count: number }>(`SELECT count(*) AS count FROM plugins p WHERE ${where}`);
  const window = [perPage, (page - 1) * perPage];
  const rows = await sql<Row>(`${selection} WHERE ${where} ORDER BY p.id LIMIT $1 OFFSET $2`, window);
  return { rows: rows.map(toPlugin), count: counted?.count ?? 0, page, perPage };
}

/** An installed version, as lists show it. */
export interface VersionRow extends PluginVersion {
  signedBy: string | null;
  origin: string | null;
  packages: readonly PackageRow[];
  createdAt: Date;
  /** When the plugin began to run it last; null for never. */
  activatedAt: Date | null;
}

/** A page of the installed versions of a plugin, the newest first. */
export async function listVersions(sql: Sql, id: string, page: number): Promise<Page<VersionRow>> {
  const installed = 'FROM plugin_bundles WHERE plugin_id = $1 AND released_at IS NULL';
  const [counted] = await sql<{ count: number }>(`SELECT count(*) AS count ${installed}`, [id]);
  const rows = await sql<BundleRow>(
    `SELECT hash, manifest, signed_by, origin, packages, created_at, activated_at ${installed}
     ORDER BY created_at DESC, hash LIMIT $2 OFFSET $3`,
    [id, perPage, (page - 1) * perPage],
  );
  return { rows: rows.map(toVersionRow), count: counted?.count ?? 0, page, perPage };
}

interface BundleRow {
  hash: string;
  manifest: string;
  signed_by: string | null;
  origin: string | null;
  packages: PackageRow[];
  created_at: string;
  activated_at: string | null;
}

function toVersionRow(row: BundleRow): VersionRow {
  const manifest = readStoredManifest(row.manifest);
  return {
    version: manifest.version,
    hash: row.hash,
    manifest,
    signedBy: row.signed_by,
    origin: row.origin,
    packages: row.packages,
    createdAt: moment(row.created_at),
    activatedAt: momentOrNull(row.activated_at),
  };
}

/**
 * The plugin with the id, or null. Until the transaction ends it is neither uninstalled nor gets another version: what its
 * version accepts now, it accepts when the transaction commits.
 */
export async function holdPlugin(sql: Sql, id: string): Promise<Plugin | null> {
  await sql('SELECT FROM plugins WHERE id = $1 FOR SHARE', [id]);
  return findPlugin(sql, id);
}

/** The plugin with the id, if its version can run; otherwise null. */
export async function findRunnable(sql: Sql, id: string): Promise<(Plugin & { active: PluginVersion }) | null> {
  const plugin = await findPlugin(sql, id);
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
    origin: row.origin,
    packages: row.packages ?? [],
    createdAt: moment(row.created_at),
    updatedAt: moment(row.updated_at),
  };
}

function toVersion(hash: string | null, text: string | null): PluginVersion | null {
  if (hash === null || text === null) return null;
  const manifest = readStoredManifest(text);
  return { version: manifest.version, hash, manifest };
}
