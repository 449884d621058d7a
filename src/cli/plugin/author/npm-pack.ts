import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { OperatorError } from '../../../lib/operator-error.ts';
import { addFiles } from '../../../packages/archive/add-files.ts';
import { unpack } from '../../../packages/archive/unpack.ts';
import { parseManifestText } from '../../../packages/manifest/manifest.ts';
import { PluginError } from '../../../packages/plugin-error.ts';
import { runNpm } from '../registry/run-npm.ts';
import { dependencyFilesOf } from './dependency-files.ts';

/** Bounds of the archives that npm makes here, far beyond those of services. */
const [maxUnpackedBytes, maxEntries] = [256 * 1024 * 1024, 100_000];
/** Folders that are left out of a plugin without a package.json, whose `files` would decide. */
const leftOut = new Set(['node_modules', '.git']);

/**
 * Returns the archive that `npm pack` makes of a folder, and its name; it holds the npm packages that the code uses. No script of
 * the package is run. A name and a version that package.json lacks, or all of it, are those of plugin.json. Throws
 * OperatorError.
 */
export async function packFolder(directory: string): Promise<{ name: string; archive: Buffer }> {
  const folder = resolve(directory);
  if (!(await exists(join(folder, 'plugin.json'))))
    throw new OperatorError(`There is no plugin.json in ${directory}: name the folder of a plugin.`);
  const temporary = await mkdtemp(join(tmpdir(), 'switchboard-pack-'));
  try {
    const own = await readPackageJson(folder);
    const source = lacksNames(own) ? await describe(folder, temporary, own) : folder;
    await npmPack(source, temporary);
    const [name] = (await readdir(temporary)).filter((file) => file.endsWith('.tgz'));
    if (name === undefined) throw new OperatorError(`npm pack made no archive of ${directory}.`);
    const archive = await readFile(join(temporary, name));
    return { name, archive: own && hasDependencies(own) ? await withDependencies(archive, folder) : archive };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

function hasDependencies({ dependencies }: PackageJson): boolean {
  return typeof dependencies === 'object' && dependencies !== null && Object.keys(dependencies).length > 0;
}

/** Adds the files that npm has not packed: with `bundleDependencies` it packs them, too. */
async function withDependencies(archive: Buffer, folder: string): Promise<Buffer> {
  const files = await dependencyFilesOf(folder);
  const unpacked = unpack(archive, { unpackedBytes: maxUnpackedBytes, entries: maxEntries });
  // An archive that cannot be unpacked is refused with its reasons.
  if ('problems' in unpacked) return archive;
  for (const path of unpacked.files.keys()) files.delete(path);
  return files.size === 0 ? archive : addFiles(archive, files);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

type PackageJson = Record<string, unknown>;

/** Returns the package.json; none of its fields for a folder without one. Null for a file that npm is to refuse. */
async function readPackageJson(folder: string): Promise<PackageJson | null> {
  const path = join(folder, 'package.json');
  if (!(await exists(path))) return {};
  try {
    const fields: unknown = JSON.parse(await readFile(path, 'utf8'));
    return typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? (fields as PackageJson) : null;
  } catch {
    return null;
  }
}

function lacksNames(own: PackageJson | null): own is PackageJson {
  return own !== null && !(typeof own['name'] === 'string' && typeof own['version'] === 'string');
}

/** Returns a copy of the folder whose package.json has a name and a version. */
async function describe(folder: string, temporary: string, own: PackageJson): Promise<string> {
  const copy = join(temporary, 'source');
  await cp(folder, copy, { recursive: true, filter: (path) => path === folder || !leftOut.has(basename(path)) });
  const { id, version } = await readManifest(folder);
  const { name: ownName, version: ownVersion } = own;
  const names = {
    name: typeof ownName === 'string' ? ownName : id,
    version: typeof ownVersion === 'string' ? ownVersion : version,
  };
  await writeFile(join(copy, 'package.json'), `${JSON.stringify({ ...own, ...names }, null, 2)}\n`);
  return copy;
}

async function readManifest(folder: string): Promise<{ id: string; version: string }> {
  try {
    return parseManifestText(await readFile(join(folder, 'plugin.json'), 'utf8'));
  } catch (error) {
    if (error instanceof PluginError) throw new OperatorError(error.problems.join('\n'), { cause: error });
    throw error;
  }
}

// Called in the temporary folder: the package's own .npmrc has no effect.
async function npmPack(source: string, temporary: string): Promise<void> {
  const args = ['pack', source, '--pack-destination', temporary];
  await runNpm({ args, cwd: temporary, refused: `npm pack refused ${source}` });
}
