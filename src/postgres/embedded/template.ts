import { createHash } from 'node:crypto';
import {
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { systemRandom } from '../../lib/ports.ts';
import { openToAll, prepareBinaries, type Binaries } from './binaries.ts';
import { clusterRecipe, createCluster, removePassword, serviceName } from './cluster.ts';
import { clusterFolder, createEphemeralHome } from './home.ts';
import { launchServer, type Log } from './server.ts';

const makeMs = 120_000;
const migrationsFolder = join(import.meta.dirname, '../migrations');

/**
 * Makes the template of new databases in `folder`, unless the present one is there: a cluster that `fill` has migrated, whose
 * role has no password yet. Readable by everybody, since it holds nothing of anybody.
 */
export async function makeTemplate(
  folder: string,
  { fill, log }: { fill: (url: string) => Promise<unknown>; log: Log },
): Promise<void> {
  const home = createEphemeralHome();
  try {
    const binaries = prepareBinaries(home.user, join(home.path, 'binaries'));
    const template = templateIn(folder, binaries);
    if (existsSync(template)) return;
    const password = systemRandom.bytes(16).toString('hex');
    const options = { home, binaries, password, ephemeral: false, timeoutMs: makeMs };
    await createCluster(options);
    const server = await launchServer({ ...options, log }, null);
    try {
      await fill(`postgresql://${serviceName}:${password}@127.0.0.1:${server.port}/${serviceName}`);
    } finally {
      await server.stop('fast');
    }
    await removePassword(options);
    store(clusterFolder(home.path), template);
  } finally {
    rmSync(home.path, { recursive: true, force: true });
  }
}

/** The folder of the template that a database of this release, made here, would equal; it may not be there. */
export function templateIn(folder: string, { version }: Binaries): string {
  const hash = createHash('sha256').update(JSON.stringify([process.platform, process.arch, version, clusterRecipe()]));
  const entries = readdirSync(migrationsFolder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.toSorted()) hash.update(readFileSync(file));
  return join(folder, hash.digest('hex').slice(0, 32));
}

function store(cluster: string, template: string): void {
  const folder = dirname(template);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const draft = `${template}.new`;
  cpSync(cluster, draft, { recursive: true, mode: constants.COPYFILE_FICLONE });
  openToAll(draft);
  chmodSync(folder, 0o755);
  renameSync(draft, template);
}
