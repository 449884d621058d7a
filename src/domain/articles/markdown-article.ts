import { posix } from 'node:path';
import { readFrontMatter } from './front-matter.ts';
import { plainText } from './plain-text.ts';

const known = ['title', 'url', 'language', 'tags', 'published'];
const firstHeading = /^\s*# +(\S.*)(?:\n|$)/;
/** The language in a file's name: `returns.de.md`. */
const nameLanguage = /\.([a-z]{2,3}(?:-[A-Za-z]{2,4})?)$/;

/**
 * The article in a Markdown file, as a line of an import has it. Its title is that of the front matter, else its first
 * heading, else the file's name; its language that of the front matter, else in the name (`returns.de.md`). `problem` is a
 * sentence about what cannot be read.
 */
export function articleOf(path: string, text: string): { article: Record<string, unknown> } | { problem: string } {
  const read = readFrontMatter(text);
  if ('problem' in read) return read;
  const { matter } = read;
  const given = Object.fromEntries(
    known.filter((name) => matter.has(name)).map((name) => [name, valueOf(name, matter.get(name))]),
  );
  const base = posix.basename(path).replace(/\.(?:md|markdown)$/i, '');
  const [, language] = nameLanguage.exec(base) ?? [];
  const name = base.replace(nameLanguage, '');
  const [heading = '', headingText = ''] = firstHeading.exec(read.content) ?? [];
  // The heading that became the title is not said twice.
  const isTitle = !('title' in given) || given['title'] === plainText(headingText);
  const content = (isTitle ? read.content.slice(heading.length) : read.content).trim();
  const title = plainText(headingText) || name.replace(/[-_]+/g, ' ');
  return { article: { title, ...(language ? { language } : {}), ...given, content, path } };
}

// An empty entry of the front matter is null; one tag need not be a list.
function valueOf(name: string, value: unknown): unknown {
  if (name !== 'tags') return value;
  if (value === null) return [];
  return typeof value === 'string' ? [value] : value;
}
