import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join, relative } from 'node:path';
import { systemRandom } from '../lib/ports.ts';

const source = realpathSync(join(import.meta.dirname, '..'));
const written = join(source, '../prepared/children');
// In the package that `npm pack` makes, these files are JavaScript.
const extension = extname(import.meta.filename);

/**
 * Paths of the modules of a child process as JavaScript; `modules` are relative to `folder`, without extension. Children can
 * keep no compiled code, and TypeScript costs each of them more than all the rest of its start: it is written once as
 * JavaScript, by its hash. Where that is not possible, children read the TypeScript.
 */
export function childCode(folder: string, modules: readonly string[]): string[] {
  const files = modules.map((name) => join(folder, `${name}${extension}`));
  return extension === '.ts' ? (writeStripped(files) ?? files) : files;
}

function writeStripped(files: readonly string[]): string[] | null {
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  const hash = createHash('sha256')
    .update(JSON.stringify([process.version, files, texts]))
    .digest('hex')
    .slice(0, 32);
  const folder = join(written, hash);
  const pathIn = (root: string, file: string): string => join(root, relative(source, file).replace(/\.ts$/, '.js'));
  try {
    if (!existsSync(folder)) writeFolder(folder, (draft) => files.map((file) => pathIn(draft, file)), texts);
    // Node's permission model compares real paths.
    const real = realpathSync(folder);
    return files.map((file) => pathIn(real, file));
  } catch {
    return null;
  }
}

function writeFolder(folder: string, pathsIn: (root: string) => string[], texts: readonly string[]): void {
  const draft = `${folder}.${systemRandom.uuid()}`;
  for (const [index, path] of pathsIn(draft).entries()) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, stripTypes(texts[index] ?? ''));
  }
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(folder)) throw error;
  }
}

function stripTypes(text: string): string {
  return stripTypeScriptTypes(text).replaceAll(/(?<= from '\.[^']*)\.ts(?=')/g, '.js');
}
