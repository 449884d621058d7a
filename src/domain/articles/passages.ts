import { plainText } from './plain-text.ts';

/** A part of an article that can be an answer: the nearest heading above it, all of them, and its Markdown. */
export interface Passage {
  heading: string | null;
  headings: string[];
  text: string;
}

/** Characters of a passage at most, unless an article would have more than `maxPassages` of them. */
const passageChars = 1500;
/** Passages of an article at most. */
const maxPassages = 200;

const fence = /^ {0,3}(```|~~~)/;
const heading = /^ {0,3}(#{1,6})\s+(\S.*)$/;
const underline = /^ {0,3}(=+|-+)\s*$/;

/**
 * Divides Markdown at its headings, and sections that are too long at their paragraphs, lines or words. There is one at
 * least. Takes time linear in the length.
 */
export function divide(markdown: string): Passage[] {
  const sections = sectionsOf(markdown.replace(/\r\n?/g, '\n').split('\n'));
  const passages = sections.flatMap(({ headings, lines }) =>
    piecesOf(lines).map((text) => ({ heading: headings.at(-1) ?? null, headings, text })),
  );
  if (passages.length === 0) return [{ heading: null, headings: [], text: markdown.trim() }];
  return passages.length <= maxPassages ? passages : joinNeighbours(passages);
}

interface Section {
  headings: string[];
  lines: string[];
}

function sectionsOf(lines: readonly string[]): Section[] {
  const sections: Section[] = [{ headings: [], lines: [] }];
  const above: (string | undefined)[] = [];
  let fenced: string | null = null;
  for (const line of lines) {
    const current = sections.at(-1) ?? { headings: [], lines: [] };
    const mark = fence.exec(line)?.[1] ?? null;
    const inCode = fenced !== null;
    if (mark !== null && (fenced === null || fenced === mark)) fenced = fenced === null ? mark : null;
    const found = inCode || mark !== null ? null : headingAt(line, current.lines);
    if (!found) {
      current.lines.push(line);
      continue;
    }
    above.length = Math.min(above.length, found.level - 1);
    above[found.level - 1] = found.title;
    sections.push({ headings: above.filter((title) => title !== undefined), lines: [] });
  }
  return sections;
}

function headingAt(line: string, before: string[]): { level: number; title: string } | null {
  const [, marks = '', text = ''] = heading.exec(line) ?? [];
  if (marks !== '') return { level: marks.length, title: plainText(text.replace(/\s#+\s*$/, '')) };
  const under = underline.exec(line)?.[1];
  if (under === undefined || !canBeUnderlined(before)) return null;
  // The line above its underline leaves the section before.
  const title = plainText(before.pop() ?? '');
  return { level: under.startsWith('=') ? 1 : 2, title };
}

function canBeUnderlined(lines: readonly string[]): boolean {
  const [before = '', last = ''] = [lines.at(-2), lines.at(-1)];
  return before.trim() === '' && /^ {0,3}[^\s\-*+>|\d]/.test(last);
}

function piecesOf(lines: readonly string[]): string[] {
  const text = lines.join('\n').trim();
  if (text === '') return [];
  if (text.length <= passageChars) return [text];
  return gather(text.split(/\n{2,}/), '\n\n', (paragraph) =>
    gather(paragraph.split('\n'), '\n', (line) => gather(line.split(/(?<=\s)/), '', cut)),
  );
}

/** Puts parts together to pieces of no more than passageChars; a longer part is divided further. */
function gather(parts: readonly string[], between: string, divideFurther: (part: string) => string[]): string[] {
  const pieces: string[] = [];
  let open = '';
  const close = () => {
    if (open.trim() !== '') pieces.push(open.trim());
    open = '';
  };
  for (const part of parts) {
    if (open.length + between.length + part.length > passageChars) close();
    if (part.length > passageChars) pieces.push(...divideFurther(part));
    else open = open === '' ? part : open + between + part;
  }
  close();
  return pieces;
}

function cut(word: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < word.length; at += passageChars)
    // Where the cut splits a surrogate pair, its halves are replaced: this is no word of any language.
    pieces.push(word.slice(at, at + passageChars).toWellFormed());
  return pieces;
}

function joinNeighbours(passages: readonly Passage[]): Passage[] {
  const together = Math.ceil(passages.length / maxPassages);
  return Array.from({ length: Math.ceil(passages.length / together) }, (_, index) => {
    const group = passages.slice(index * together, (index + 1) * together);
    const { heading: first = null, headings = [] } = group[0] ?? {};
    return { heading: first, headings, text: group.map(withHeading).join('\n\n') };
  });
}

function withHeading({ heading: title, text }: Passage, index: number): string {
  return title === null || index === 0 ? text : `## ${title}\n\n${text}`;
}
