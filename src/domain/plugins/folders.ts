import type { OuterTransaction } from '../../events/transaction.ts';
import { refuse, type BrokenPackage, type FolderReading, type Registry } from '../../packages/registry.ts';
import type { PluginManifest } from '../../packages/manifest/manifest.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Judged } from './misfits.ts';
import type { Seal } from './open-settings.ts';
import { beginChange } from './registry.ts';
import { findPlugin, type Plugin } from './rows.ts';
import { markBots, storeVersion, useVersion, whyOtherKind, whyPartIsMissed } from './versions.ts';

/** A row of a plugin as far as its folder concerns it. */
interface Known {
  id: string;
  source: Plugin['source'];
  directory: string | null;
  active_hash: string | null;
  pending_hash: string | null;
}

/** Which folder has an id, and the packages that may not have it. */
interface Ownership {
  owner: FolderReading | null;
  refused: BrokenPackage[];
}

type Readable = Exclude<FolderReading, { problems: readonly string[] }>;

/**
 * Installs the packages in folders. An id belongs to its first package, an archive or a folder, as long as that is there: a
 * newcomer never replaces a running version. A folder that cannot be read keeps its plugin unchanged. `trusted`: versions with
 * more permissions than their predecessors need no approval; `judged`: the settings that were validated before. Returns the
 * packages that were left out, ordered by folder.
 */
export async function installFolders(
  tx: OuterTransaction,
  registry: Pick<Registry, 'claimants' | 'leftOut'>,
  options: { trusted?: boolean; seal: Seal; judged?: Judged },
): Promise<BrokenPackage[]> {
  await beginChange(tx);
  const rows = await tx.sql<Known>('SELECT id, source, directory, active_hash, pending_hash FROM plugins');
  const known = new Map(rows.map((row) => [row.id, row]));
  const broken = [...registry.leftOut];
  const present: string[] = [];
  for (const [id, claimants] of registry.claimants) {
    const { owner, refused } = ownershipOf(id, claimants, known.get(id) ?? null);
    broken.push(...refused);
    if (owner && 'problems' in owner) {
      broken.push({ directory: owner.directory, problems: owner.problems });
      if (!known.has(id)) await holdId(tx, id, owner.directory);
    } else if (owner) broken.push(...(await install(tx, owner, known.get(id) ?? null, options)));
    if (owner) present.push(owner.directory);
  }
  await notePresence(tx, present);
  return broken.sort((one, other) => (one.directory < other.directory ? -1 : 1));
}

/** Decides which of the folders has the id. */
function ownershipOf(id: string, claimants: readonly FolderReading[], known: Known | null): Ownership {
  if (known?.source === 'archive') {
    const problem = `The id \`${id}\` belongs to the plugin that was installed from an archive: uninstall it, or rename this folder`;
    return { owner: null, refused: claimants.map(({ directory }) => ({ directory, problems: [problem] })) };
  }
  const owner = known ? claimants.find(({ directory }) => directory === known.directory) : firstOf(claimants);
  if (owner) return { owner, refused: claimants.filter((one) => one !== owner).map((one) => refuse(id, one, owner)) };
  const [heir, ...rivals] = claimants;
  if (heir && rivals.length === 0) return { owner: heir, refused: [] };
  const names = claimants.map(({ directory }) => directory).join(' and ');
  const problem = `${names} claim the id \`${id}\`, which was that of ${known?.directory ?? 'nobody'}: neither gets it; rename one of them`;
  return { owner: null, refused: claimants.map(({ directory }) => ({ directory, problems: [problem] })) };
}

function firstOf(claimants: readonly FolderReading[]): FolderReading | undefined {
  return claimants.find((one) => 'manifest' in one) ?? claimants[0];
}

/** Returns the package if it cannot be installed: the version before it stays. */
async function install(
  tx: OuterTransaction,
  pack: Readable,
  known: Known | null,
  options: { trusted?: boolean; seal: Seal; judged?: Judged },
): Promise<BrokenPackage[]> {
  const { manifest, bundle, directory } = pack;
  const { hash } = bundle;
  const isSettled = known?.active_hash === hash && known.pending_hash === null;
  if (known?.directory === directory && (isSettled || (known.pending_hash === hash && !options.trusted))) return [];
  const obstacle = await findObstacle(tx.sql, manifest);
  if (obstacle) return [{ directory, problems: [obstacle] }];
  await tx.sql(
    `INSERT INTO plugins (id, source, directory, created_at, updated_at) VALUES ($1, 'folder', $2, $3, $3)
     ON CONFLICT (id) DO UPDATE SET directory = excluded.directory, updated_at = excluded.updated_at`,
    [manifest.id, directory, tx.now],
  );
  await storeVersion(tx, { ...pack, filesHash: null, signedBy: null, origin: null });
  const plugin = (await findPlugin(tx.sql, manifest.id)) ?? { id: manifest.id, active: null };
  await useVersion(tx, plugin, { hash, manifest }, options);
  return [];
}

async function findObstacle(sql: Sql, manifest: PluginManifest): Promise<string | null> {
  // Nobody creates what misses a part until the transaction ends.
  await sql('SELECT FROM plugins WHERE id = $1 FOR UPDATE', [manifest.id]);
  const before = await findPlugin(sql, manifest.id);
  // Bots of a plugin may be older than its folder.
  return (before && whyOtherKind(before, manifest)) ?? whyPartIsMissed(sql, manifest);
}

// The id of a folder that cannot be read yet is taken.
async function holdId({ sql, now }: OuterTransaction, id: string, directory: string): Promise<void> {
  const statement = `INSERT INTO plugins (id, source, directory, created_at, updated_at) VALUES ($1, 'folder', $2, $3, $3)`;
  await sql(statement, [id, directory, now]);
}

async function notePresence({ sql }: OuterTransaction, directories: readonly string[]): Promise<void> {
  await sql(
    `UPDATE plugins SET is_present = directory = ANY ($1) WHERE source = 'folder' AND is_present <> (directory = ANY ($1))`,
    [directories],
  );
  await markBots(sql);
}
