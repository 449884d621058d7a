import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../../../lib/operator-error.ts';
import { parseManifestText } from '../../../packages/manifest/manifest.ts';
import { PluginError } from '../../../packages/plugin-error.ts';

const run = promisify(execFile);
const packTimeoutMs = 60_000;
/** Folders that are left out of a plugin without a package.json, whose `files` would decide. */
const leftOut = new Set(['node_modules', '.git']);

/**
 * Returns the archive that `npm pack` makes of a folder, and its name. No script of the package is run. A folder without a
 * package.json gets one from its plugin.json. Throws OperatorError.
 */
export async function packFolder(directory: string): Promise<{ name: string; archive: Buffer }> {
  const folder = resolve(directory);
  if (!(await exists(join(folder, 'plugin.json'))))
    throw new OperatorError(`There is no plugin.json in ${directory}: name the folder of a plugin.`);
  const temporary = await mkdtemp(join(tmpdir(), 'switchboard-pack-'));
  try {
    const source = (await exists(join(folder, 'package.json'))) ? folder : await describe(folder, temporary);
    await npmPack(source, temporary);
    const [name] = (await readdir(temporary)).filter((file) => file.endsWith('.tgz'));
    if (name === undefined) throw new OperatorError(`npm pack made no archive of ${directory}.`);
    return { name, archive: await readFile(join(temporary, name)) };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Returns a copy of the folder with a package.json. */
async function describe(folder: string, temporary: string): Promise<string> {
  const copy = join(temporary, 'source');
  await cp(folder, copy, { recursive: true, filter: (path) => path === folder || !leftOut.has(basename(path)) });
  const { id, version } = await readManifest(folder);
  await writeFile(join(copy, 'package.json'), `${JSON.stringify({ name: id, version }, null, 2)}\n`);
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
  const args = ['pack', source, '--ignore-scripts', '--silent', '--pack-destination', temporary];
  try {
    await run('npm', args, { cwd: temporary, timeout: packTimeoutMs });
  } catch (error) {
    const { code, stderr = '', message } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === 'ENOENT')
      throw new OperatorError(
        'npm is needed to pack a folder: install it, or make an archive with npm pack elsewhere.',
        {
          cause: error,
        },
      );
    throw new OperatorError(`npm pack refused ${source}: ${stderr.trim() || message}`, { cause: error });
  }
}
