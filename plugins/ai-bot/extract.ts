const sentenceEnd = /(?<=[.!?…]["')\]]?)\s+|(?<=[。！？])/u;
const sentencesAtMost = 3;
const maxChars = 700;
/** Characters from which a line without an end goes on in the next one. */
const wrappedChars = 50;
// Sums of the same shares in another order are not quite equal.
const precision = 1e6;
/** Cells of a row stand apart from each other by so many spaces. */
const row = /\S {3,}\S/;

/** A passage as the search found it. Runs recorded by older versions have no words. */
interface Found {
  text: string;
  /** The words of the text that the question asks for. */
  words?: readonly string[];
}

interface Sentence {
  text: string;
  line: number;
  /** The first row of its table; null outside of tables. */
  head: string | null;
}

/**
 * Returns up to three consecutive sentences of a passage that contain most of the question, words that few sentences have before
 * others. Lines stay lines, and a row of a table stands below the first one.
 */
export function extract({ text, words = [] }: Found, question: string): string {
  const sentences = sentencesOf(text);
  const read = words.length > 0 ? partsOf(words) : likenessTo(question);
  const found = sentences.map(({ text: sentence }) => read(sentence));
  const values = new Map<string, number>();
  for (const word of found.flat()) values.set(word, (values.get(word) ?? 0) + 1);
  const worth = (from: number, to: number): number =>
    Math.round(
      precision *
        [...new Set(found.slice(from, to).flat())].reduce((sum, word) => sum + 1 / (values.get(word) ?? 1), 0),
    );
  let best = { at: 0, value: -1 };
  for (const at of sentences.keys()) {
    const value = worth(at, at + sentencesAtMost);
    // Prefers the earliest of equals, unless it begins with sentences that contain none of the words.
    const isBehind = value === best.value && worth(best.at, best.at + 1) === 0 && worth(at, at + 1) > 0;
    if (value > best.value || isBehind) best = { at, value };
  }
  const chosen = sentences.slice(best.at, best.at + sentencesAtMost);
  return cut(
    joined(
      chosen.filter((sentence, index) => sentence.head === null || worth(best.at + index, best.at + index + 1) > 0),
    ),
  );
}

function sentencesOf(text: string): Sentence[] {
  let head: string | null = null;
  return linesOf(text).flatMap((line, index) => {
    if (!row.test(line)) {
      head = null;
      return line.split(sentenceEnd).map((sentence) => ({ text: sentence.trim(), line: index, head }));
    }
    head ??= line;
    return [{ text: line, line: index, head }];
  });
}

/** The lines of a text that are not empty; what only breaks at the width of a page is one line. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  let isOpen = false;
  for (const line of text.split('\n').map((one) => one.trim())) {
    const isRow = row.test(line);
    if (isOpen && line !== '' && !isRow) lines.push(`${lines.pop() ?? ''} ${line}`);
    else if (line !== '') lines.push(line);
    isOpen = !isRow && line.length >= wrappedChars && !/[.!?:;…。！？]["')\]]?$/.test(line);
  }
  return lines;
}

function joined(sentences: readonly Sentence[]): string {
  let [text, before] = ['', null as Sentence | null];
  for (const sentence of sentences) {
    const { head } = sentence;
    if (head !== null && head !== before?.head && head !== sentence.text) text += `${text === '' ? '' : '\n'}${head}`;
    const between = before?.line === sentence.line ? ' ' : '\n';
    text += `${text === '' ? '' : between}${sentence.text}`;
    before = sentence;
  }
  return text;
}

// The search knows all forms of a word, and which words of a question say nothing.
function partsOf(words: readonly string[]): (sentence: string) => string[] {
  return (sentence) => words.filter((word) => sentence.includes(word));
}

// Where it found the passage by its meaning: the same words, as far as that can be told without knowing the language.
function likenessTo(question: string): (sentence: string) => string[] {
  const asked = wordsOf(question);
  return (sentence) => [...wordsOf(sentence)].filter((word) => asked.has(word));
}

function wordsOf(text: string): Set<string> {
  const found =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  // The first letters stand for all forms of a word.
  return new Set(found.map((word) => word.slice(0, 5)));
}

function cut(text: string): string {
  if (text.length <= maxChars) return text;
  const end = text.lastIndexOf(' ', maxChars);
  return `${text.slice(0, end === -1 ? maxChars : end).toWellFormed()} …`;
}
