import { ApiError, invalid } from '../../errors.ts';
import type { OuterTransaction } from '../../events/transaction.ts';
import type { Judged } from './misfits.ts';
import type { Seal } from './open-settings.ts';
import { beginChange } from './registry.ts';
import { findPlugin, readPlugin, type Plugin } from './rows.ts';
import { storeVersion, useVersion, whyOtherKind, type NewVersion } from './versions.ts';

/** A package from an archive. */
export type ArchiveVersion = NewVersion & { filesHash: string };

/** Plugins of a service at most. */
const maxPlugins = 5000;

/**
 * Installs a version from an archive: it runs from now on or, where it may do more than the version that runs, waits for
 * approval. `isNew` is false, and nothing happens, for a version that is installed. Errors: 409 when a folder has the id, or
 * the version is installed with other content; 422 for another kind than before, and when there are too many plugins.
 */
export async function installArchive(
  tx: OuterTransaction,
  pack: ArchiveVersion,
  options: { seal: Seal; judged: Judged },
): Promise<{ plugin: Plugin; isNew: boolean }> {
  await beginChange(tx);
  const { manifest, bundle } = pack;
  const present = await findPlugin(tx.sql, manifest.id);
  if (present?.source === 'folder' && present.isPresent) throw ofFolder(present);
  if (present && (await isInstalled(tx, pack))) {
    await noteOrigin(tx, pack);
    return { plugin: await readPlugin(tx.sql, manifest.id), isNew: false };
  }
  if (!present) await checkRoom(tx);
  const otherKind = present && whyOtherKind(present, manifest);
  if (otherKind) throw invalid('/file', 'kind', otherKind);
  await tx.sql(
    `INSERT INTO plugins (id, source, created_at, updated_at) VALUES ($1, 'archive', $2, $2)
     ON CONFLICT (id) DO UPDATE SET source = 'archive', directory = NULL, is_present = true`,
    [manifest.id, tx.now],
  );
  await storeVersion(tx, pack);
  await useVersion(tx, present ?? { id: manifest.id, active: null }, { hash: bundle.hash, manifest }, options);
  return { plugin: await readPlugin(tx.sql, manifest.id), isNew: true };
}

/** 409: the plugin is that of a folder, and changes there. */
export function ofFolder({ id, directory }: Pick<Plugin, 'id' | 'directory'>): ApiError {
  return new ApiError(
    409,
    'plugin_of_folder',
    `The plugin \`${id}\` is read from the folder ${directory}: change or remove it there`,
  );
}

/** Whether the version is installed with this content. Errors: 409 when it is with another one. */
async function isInstalled({ sql }: OuterTransaction, { manifest, filesHash }: ArchiveVersion): Promise<boolean> {
  const { id, version } = manifest;
  const [installed] = await sql<{ files_hash: string | null }>(
    `SELECT files_hash FROM plugin_bundles
     WHERE plugin_id = $1 AND version = $2 AND released_at IS NULL AND files_hash IS NOT NULL`,
    [id, version],
  );
  if (!installed || installed.files_hash === filesHash) return installed !== undefined;
  throw new ApiError(
    409,
    'version_taken',
    `Version ${version} of \`${id}\` is installed with other content: give this one another version`,
  );
}

// From where it was installed last is from where it is updated.
async function noteOrigin({ sql }: OuterTransaction, { bundle, origin }: ArchiveVersion): Promise<void> {
  if (origin === null) return;
  await sql('UPDATE plugin_bundles SET origin = $2 WHERE hash = $1 AND origin IS DISTINCT FROM $2', [
    bundle.hash,
    origin,
  ]);
}

async function checkRoom({ sql }: OuterTransaction): Promise<void> {
  const [counted] = await sql<{ count: number }>('SELECT count(*) AS count FROM plugins');
  if ((counted?.count ?? 0) < maxPlugins) return;
  throw invalid('/file', 'limit', `A service can have at most ${maxPlugins} plugins`);
}
