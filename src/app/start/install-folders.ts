import { installFolders } from '../../domain/plugins/folders.ts';
import { judge } from '../../domain/plugins/misfits.ts';
import type { Seal } from '../../domain/plugins/open-settings.ts';
import { findSettled, findStored } from '../../domain/plugins/registry.ts';
import { transactOutside } from '../../events/transaction.ts';
import { findLoadProblems } from '../../packages/read/load-check.ts';
import type { BrokenPackage, FolderReading, Registry } from '../../packages/registry.ts';
import type { Database } from '../../postgres/database.ts';

/**
 * Installs what was read in folders, after having loaded in a sandbox what is new. Returns the packages that were left out,
 * ordered by folder.
 */
export async function installFolderPlugins(
  database: Database,
  registry: Registry,
  options: { trusted?: boolean; seal: Seal },
): Promise<BrokenPackage[]> {
  const readable = [...registry.claimants.values()].flat().filter((one) => 'manifest' in one);
  const hashes = readable.map(({ bundle }) => bundle.hash);
  const stored = await findStored(database.sql, hashes);
  const problems = await findLoadProblems(readable.filter(({ bundle, loads }) => !loads && !stored.has(bundle.hash)));
  const claimants = new Map(
    [...registry.claimants].map(([id, readings]) => [
      id,
      readings.map((one) => ('manifest' in one ? judged(one, problems.get(one)) : one)),
    ]),
  );
  const { leftOut } = registry;
  const settled = await findSettled(database.sql, hashes);
  const versions = readable.map(({ bundle, manifest }) => ({ hash: bundle.hash, manifest }));
  const searches = await judge(
    database.sql,
    versions.filter(({ hash }) => !settled.has(hash)),
  );
  return transactOutside(database, (tx) =>
    installFolders(tx, { claimants, leftOut }, { ...options, judged: searches }),
  );
}

function judged(reading: FolderReading, problem: string | undefined): FolderReading {
  const { source, name, directory, path } = reading;
  return problem === undefined ? reading : { source, name, directory, path, problems: [problem] };
}
