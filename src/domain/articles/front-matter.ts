/** What a Markdown file says of itself between two lines `---` at its beginning. */
export type FrontMatter = Map<string, string | boolean | string[]>;

const fence = /^---[ \t]*$/;
const entry = /^([A-Za-z_][\w-]*):(?:[ \t](.*))?$/;
const item = /^[ \t]*-[ \t](.*)$/;

/**
 * Reads the front matter of a file, of YAML as much as it takes: texts, quoted or not, true and false, lists in brackets
 * or one item a line. `problem` is a sentence about what cannot be read.
 */
export function readFrontMatter(text: string): { matter: FrontMatter; content: string } | { problem: string } {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (!fence.test(lines[0] ?? '')) return { matter: new Map(), content: lines.join('\n') };
  const end = lines.findIndex((line, index) => index > 0 && fence.test(line));
  if (end === -1) return { problem: 'the front matter has no end: a line of three hyphens is missing' };
  const read = readEntries(lines.slice(1, end));
  return 'problem' in read ? read : { ...read, content: lines.slice(end + 1).join('\n') };
}

function readEntries(lines: readonly string[]): { matter: FrontMatter } | { problem: string } {
  const matter: FrontMatter = new Map();
  let list: string[] | null = null;
  for (const line of lines.filter((one) => !/^\s*(?:#|$)/.test(one))) {
    const [, value] = item.exec(line) ?? [];
    const [, name, rest = ''] = entry.exec(line) ?? [];
    if (list && value !== undefined) list.push(unquoted(value));
    else if (name === undefined)
      return { problem: `the front matter has a line that is not understood: ${line.slice(0, 80)}` };
    else {
      list = rest.trim() === '' ? [] : null;
      matter.set(name, list ?? valueOf(rest.trim()));
    }
  }
  return { matter };
}

function valueOf(text: string): string | boolean | string[] {
  if (text === 'true' || text === 'false') return text === 'true';
  const [, items] = /^\[(.*)\]$/.exec(text) ?? [];
  if (items === undefined) return unquoted(text);
  return items
    .split(',')
    .map((one) => unquoted(one))
    .filter((one) => one !== '');
}

function unquoted(text: string): string {
  const [, , quoted] = /^(["'])(.*)\1$/.exec(text.trim()) ?? [];
  return quoted ?? text.trim();
}
