import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, posix } from 'node:path';
import { articleOf } from '../../domain/articles/markdown-article.ts';

/** A Markdown file of a folder, by its path below it: a line of an import, or a phrase that says why it is none. */
export type FolderArticle = { path: string } & ({ json: string } | { problem: string });

const markdown = new Set(['.md', '.markdown']);
// More than the content of an article can be.
const maxFileBytes = 1024 * 1024;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The paths of the Markdown files in a folder and the folders in it. Hidden ones, node_modules and links are left out: what
 * a link leads to may be outside.
 */
export async function findArticles(folder: string): Promise<string[]> {
  return (await findFiles(folder, '')).toSorted();
}

/** Reads one of the files. */
export async function readArticle(folder: string, path: string): Promise<FolderArticle> {
  const file = join(folder, path);
  if ((await stat(file)).size > maxFileBytes) return { path, problem: `has more than ${maxFileBytes} bytes` };
  try {
    const read = articleOf(path, strictUtf8.decode(await readFile(file)));
    return 'problem' in read ? { path, ...read } : { path, json: JSON.stringify(read.article) };
  } catch (error) {
    if (error instanceof TypeError) return { path, problem: 'is not valid UTF-8' };
    throw error;
  }
}

async function findFiles(folder: string, below: string): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries) {
    const path = posix.join(below, entry.name);
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    if (entry.isDirectory()) found.push(...(await findFiles(folder, path)));
    else if (entry.isFile() && markdown.has(extname(entry.name).toLowerCase())) found.push(path);
  }
  return found;
}
