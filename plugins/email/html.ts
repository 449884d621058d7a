const hidden = new Set(['script', 'style', 'head', 'title', 'template']);
const breaking = new Set(['br', 'p', 'div', 'tr', 'li', 'h1', 'h2', 'h3', 'h4', 'blockquote', 'table', 'hr']);
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };
const maxChars = 2_000_000;
const endTag = /<\/(script|style|head|title|template)/gi;

/** Returns the words of a mail that comes as HTML alone. Reads each character once. */
export function textOfHtml(html: string): string {
  const source = html.slice(0, maxChars);
  const parts: string[] = [];
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf('<', at);
    if (open === -1) break;
    parts.push(source.slice(at, open).replace(/\s+/g, ' '));
    const tag = tagAt(source, open);
    if (breaking.has(tag.name)) parts.push('\n');
    if (tag.end === open + 1) parts.push('<');
    at = hidden.has(tag.name) && !tag.isEnd ? endOf(source, tag) : tag.end;
  }
  parts.push(source.slice(at).replace(/\s+/g, ' '));
  const text = parts.join('').replace(/&(#?\w{1,10});/g, decoded);
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line, index, lines) => line !== '' || (index > 0 && lines[index - 1] !== ''))
    .join('\n')
    .trim();
}

interface Tag {
  name: string;
  isEnd: boolean;
  end: number;
}

function tagAt(source: string, open: number): Tag {
  if (source.startsWith('<!--', open)) return { name: '', isEnd: false, end: after(source, '-->', open) };
  const [, slash = '', name = ''] = /^<(\/?)([A-Za-z][A-Za-z0-9]{0,20})/.exec(source.slice(open, open + 24)) ?? [];
  const end = name === '' ? open + 1 : after(source, '>', open);
  return { name: name.toLowerCase(), isEnd: slash !== '', end };
}

// A part that is not shown goes to the end, where nothing ends it.
function endOf(source: string, { name, end }: Tag): number {
  endTag.lastIndex = end;
  for (let found = endTag.exec(source); found; found = endTag.exec(source))
    if (found[1]?.toLowerCase() === name) return after(source, '>', found.index);
  return source.length;
}

function after(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  return found === -1 ? source.length : found + mark.length;
}

function decoded(whole: string, name: string): string {
  if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? whole;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return Number.isInteger(code) && code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
}
