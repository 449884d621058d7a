import { isMap, isScalar, isSeq, parseDocument } from 'yaml';

/** Values that a Markdown file gives of itself between two lines `---` at its beginning, by their names. */
export type FrontMatter = ReadonlyMap<string, unknown>;

const begin = /^\uFEFF?---[ \t]*\r?\n/;
const end = /^---[ \t]*\r?$/m;
// It is read on the event loop.
const maxChars = 8192;

/** Reads the front matter of a file, which is YAML. `problem` is a sentence about why it cannot be read. */
export function readFrontMatter(text: string): { matter: FrontMatter; content: string } | { problem: string } {
  const [opening] = begin.exec(text) ?? [];
  if (opening === undefined) return { matter: new Map(), content: withPlainLines(text.replace(/^\uFEFF/, '')) };
  const head = text.slice(opening.length, maxChars);
  const closing = end.exec(head);
  if (!closing) {
    const within = text.length > maxChars ? ` within ${maxChars} characters` : '';
    return { problem: `the front matter has no end${within}: a line of three hyphens is missing` };
  }
  const read = readYaml(withPlainLines(head.slice(0, closing.index)).replace(/\n$/, ''));
  const content = text.slice(opening.length + closing.index + closing[0].length + 1);
  return 'problem' in read ? read : { ...read, content: withPlainLines(content) };
}

function withPlainLines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function readYaml(text: string): { matter: FrontMatter } | { problem: string } {
  // A check of unique names would take time that grows with their square.
  const { contents, errors } = parseDocument(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.pos[0]).split('\n').length + 1;
    return { problem: `the front matter is no YAML: line ${line}: ${error.message}` };
  }
  if (contents && !isMap(contents)) return { problem: 'the front matter is no YAML of names and values' };
  return { matter: new Map(contents?.items.map(({ key, value }) => [String(key), valueOf(value)])) };
}

/** A text as it is written, true, false, null, or a list of such; an object for all else, which no field takes. */
function valueOf(node: unknown): unknown {
  if (isSeq(node)) return node.items.map((item) => (isScalar(item) ? textOf(item) : {}));
  if (node === null) return null;
  return isScalar(node) ? textOf(node) : {};
}

// Numbers stay as they are written: a version, a year or a code.
function textOf({ value, source }: { value: unknown; source?: string }): unknown {
  return typeof value === 'string' || typeof value === 'boolean' || value === null ? value : source;
}
