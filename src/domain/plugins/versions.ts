import type { OuterTransaction } from '../../events/transaction.ts';
import { findWidening } from '../../packages/manifest/grants.ts';
import { hearingOf } from '../../packages/manifest/heard-events.ts';
import type { PluginManifest } from '../../packages/manifest/manifest.ts';
import { partOf } from '../../packages/manifest/parts.ts';
import type { ReadPackage } from '../../packages/read/read.ts';
import type { Sql } from '../../postgres/sql.ts';
import { partOfRowSql, type BotPart } from '../../records/bots/part.ts';
import { ApiError } from '../../errors.ts';
import { searchOf, type FindMisfits, type Judged } from './misfits.ts';
import { sealOpenSettings, type Seal } from './open-settings.ts';
import type { Plugin, PluginVersion } from './rows.ts';

/** A package to be stored; `filesHash` names all files of its archive, `signedBy` the trusted key that signed them. */
export interface NewVersion extends ReadPackage {
  filesHash: string | null;
  signedBy: string | null;
  /** The package and range of the npm registry that it came from, as `npm:NAME@RANGE`; null for none. */
  origin: string | null;
}

/** Versions of a plugin that are kept, the one that runs and the one that waits included. */
const keptVersions = 20;

/** Stores a package's manifest and code by their hash. */
export async function storeVersion({ sql, now }: OuterTransaction, pack: NewVersion): Promise<void> {
  const { manifest, manifestText, bundle, filesHash, signedBy, origin } = pack;
  const packages = pack.packages.map(({ name, version, license, bytes }) => ({ name, version, license, bytes }));
  await sql(
    `INSERT INTO plugin_bundles (hash, plugin_id, version, manifest, code, files_hash, signed_by, created_at, origin, packages)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (hash) DO UPDATE SET released_at = NULL, created_at = excluded.created_at,
       files_hash = excluded.files_hash, signed_by = excluded.signed_by,
       origin = excluded.origin, packages = excluded.packages
     WHERE plugin_bundles.released_at IS NOT NULL`,
    [
      bundle.hash,
      manifest.id,
      manifest.version,
      manifestText,
      bundle.code,
      filesHash,
      signedBy,
      now,
      origin,
      JSON.stringify(packages),
    ],
  );
}

/** Returns why the plugin cannot get a version of other kinds alone; null when they have one in common, or it is the first. */
export function whyOtherKind({ id, active, pending }: Pick<Plugin, 'id' | 'active' | 'pending'>, next: PluginManifest) {
  const before = (active ?? pending)?.manifest;
  if (!before || next.parts.some(({ kind }) => partOf(before, kind))) return null;
  const [from, to] = [before, next].map(({ parts }) => parts.map(({ kind }) => kind).join(' and '));
  return `The kind of the plugin \`${id}\` cannot change from ${from} to ${to}: give this package another id`;
}

const partNouns: Readonly<Record<BotPart, string>> = { bot: 'bots', automation: 'automations', channel: 'inboxes' };

/** Returns why the plugin cannot get a version that lacks a part: bots, automations or inboxes run it; null when none do. */
export async function whyPartIsMissed(sql: Sql, { id, parts }: PluginManifest): Promise<string | null> {
  const kinds = parts.map(({ kind }) => kind);
  const rows = await sql<{ part: BotPart; count: number }>(
    `SELECT part, count(*) AS count FROM (SELECT ${partOfRowSql('kind')} AS part FROM agent_bots WHERE plugin_id = $1) used
     WHERE part <> ALL ($2) GROUP BY part ORDER BY part`,
    [id, kinds],
  );
  if (rows.length === 0) return null;
  const users = rows.map(({ part, count }) => `${partNouns[part]} (${count})`).join(' and ');
  return `This version of \`${id}\` lacks a part that is in use by ${users}. Delete them first`;
}

/** `trusted`: the version needs no approval. `judged`: the settings that were validated before the transaction. */
interface UseOptions {
  trusted?: boolean;
  seal: Seal;
  judged?: Judged | undefined;
}

/**
 * Activates a stored version of the plugin, or makes it wait for approval if it has more permissions than the running one, or
 * refuses the settings of a bot, which then could not answer. Errors: 409 for one that lacks a part that is in use.
 */
export async function useVersion(
  tx: OuterTransaction,
  plugin: Pick<Plugin, 'id' | 'active'>,
  version: Pick<PluginVersion, 'hash' | 'manifest'>,
  { trusted = false, seal, judged }: UseOptions,
): Promise<void> {
  const { hash, manifest } = version;
  const findMisfits = searchOf(version, judged);
  if (!trusted && (await needsApproval(tx.sql, { active: plugin.active, next: manifest, findMisfits }))) {
    await checkParts(tx.sql, manifest);
    await tx.sql('UPDATE plugins SET pending_hash = $2, updated_at = $3 WHERE id = $1', [plugin.id, hash, tx.now]);
  } else await activate(tx, version, { seal, judged });
  await releaseOldVersions(tx, plugin.id);
}

async function needsApproval(
  sql: Sql,
  { active, next, findMisfits }: { active: Plugin['active']; next: PluginManifest; findMisfits: FindMisfits },
): Promise<boolean> {
  if (!active) return false;
  const widens = findWidening(active.manifest, next);
  return widens.length > 0 || (await findMisfits(sql)).length > 0;
}

/**
 * Has the plugin run a stored version; nothing waits for approval any more. Settings that it marks as secret are sealed. Bots
 * whose settings it refuses are marked: they do not answer until they get others. Errors: 409 for one that lacks a part in use.
 */
export async function activate(
  tx: OuterTransaction,
  version: Pick<PluginVersion, 'hash' | 'manifest'>,
  { seal, judged }: Pick<UseOptions, 'seal' | 'judged'>,
): Promise<void> {
  const { hash, manifest } = version;
  const { sql, now } = tx;
  const { id } = manifest;
  // From here on no bot of the plugin gets settings until the transaction ends: see holdPlugin.
  await sql('UPDATE plugins SET active_hash = $2, pending_hash = NULL, updated_at = $3 WHERE id = $1', [id, hash, now]);
  await checkParts(sql, manifest);
  await sql('UPDATE plugin_bundles SET activated_at = $2 WHERE hash = $1', [hash, now]);
  for (const part of manifest.parts) await sealOpenSettings(tx, part, seal);
  const misfits = (await searchOf(version, judged)(sql)).map((bot) => bot.id);
  for (const part of manifest.parts) {
    const { events, hearsOwn, hearsNotes } = hearingOf(part);
    await sql(
      `UPDATE agent_bots SET events = $2, hears_own = $3, hears_notes = $4, config_fits = id <> ALL ($5)
       WHERE plugin_id = $1 AND ${partOfRowSql('kind')} = $6`,
      [id, events, hearsOwn, hearsNotes, misfits, part.kind],
    );
  }
  await markBots(sql, id);
}

async function checkParts(sql: Sql, manifest: PluginManifest): Promise<void> {
  const missed = await whyPartIsMissed(sql, manifest);
  if (missed !== null) throw new ApiError(409, 'in_use', missed);
}

/** Stores for the bots of a plugin, or of all plugins, why their plugin cannot run; such a bot does not answer. */
export async function markBots(sql: Sql, id: string | null = null): Promise<void> {
  const obstacle = `coalesce((SELECT CASE WHEN NOT p.is_present OR p.active_hash IS NULL THEN 'plugin_missing'
      WHEN NOT p.enabled THEN 'plugin_disabled' ELSE '' END FROM plugins p WHERE p.id = b.plugin_id), 'plugin_missing')`;
  await sql(
    `UPDATE agent_bots b SET plugin_obstacle = nullif(${obstacle}, '')
     WHERE b.plugin_id IS NOT NULL AND (b.plugin_id = $1 OR $1 IS NULL) AND coalesce(b.plugin_obstacle, '') <> ${obstacle}`,
    [id],
  );
}

// Replay needs the code of released versions: it is deleted when no run refers to it any more.
async function releaseOldVersions({ sql, now }: OuterTransaction, id: string): Promise<void> {
  await sql(
    `UPDATE plugin_bundles SET released_at = $2 WHERE hash IN (
       SELECT b.hash FROM plugin_bundles b JOIN plugins p ON p.id = b.plugin_id
       WHERE p.id = $1 AND b.released_at IS NULL
         AND b.hash IS DISTINCT FROM p.active_hash AND b.hash IS DISTINCT FROM p.pending_hash
       ORDER BY p.source = 'folder', b.created_at DESC, b.hash
       OFFSET (SELECT CASE source WHEN 'folder' THEN 0 ELSE $3::int END FROM plugins WHERE id = $1))`,
    [id, now, keptVersions - 2],
  );
}
