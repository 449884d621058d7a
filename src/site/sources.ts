import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

// Further inputs of the build: the builder itself, and the packages by their versions in the lockfile.
const builders = ['src/site/build.ts', 'src/site/layout.ts', 'src/site/security.ts', 'package.json'];

/** The hash of everything that the site is built from; null where web/ is not there, as in the package of `npm pack`. */
export async function hashSources(root: string): Promise<string | null> {
  const web = join(root, 'web');
  const entries = await readdir(web, { recursive: true, withFileTypes: true }).catch(() => []);
  const own = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(web, 'dist')));
  if (own.length === 0) return null;
  const paths = [...own, ...builders.map((path) => join(root, path))].toSorted();
  const texts = await Promise.all(paths.map((path) => readFile(path)));
  const hash = createHash('sha256');
  for (const [index, path] of paths.entries()) {
    const text = texts[index] ?? '';
    hash.update(`${relative(root, path)} ${text.length}\n`).update(text);
  }
  return hash.digest('hex');
}
