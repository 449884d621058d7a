const sentenceEnd = /(?<=[.!?…]["')\]]?)\s+|(?<=[。！？])|\n+/u;
const sentencesAtMost = 3;
const maxChars = 700;

/** A passage as the search found it. Runs recorded by older versions have no words. */
interface Found {
  text: string;
  /** The words of the text that the question asks for. */
  words?: readonly string[];
}

/** Returns up to three consecutive sentences of a passage that contain the most words of the question. */
export function extract({ text, words = [] }: Found, question: string): string {
  const sentences = text.split(sentenceEnd).filter((sentence) => sentence.trim() !== '');
  const counts = sentences.map(words.length > 0 ? countOf(words) : likenessTo(question));
  let best = { at: 0, count: -1 };
  for (const at of sentences.keys()) {
    const count = counts.slice(at, at + sentencesAtMost).reduce((sum, one) => sum + one, 0);
    // Prefers the earliest of equals, unless it begins with sentences that contain none of the words.
    if (count > best.count || (count === best.count && counts[best.at] === 0 && (counts[at] ?? 0) > 0))
      best = { at, count };
  }
  const chosen = sentences.slice(best.at, best.at + sentencesAtMost).map((sentence) => sentence.trim());
  return cut(chosen.join(' '));
}

// The search knows all forms of a word, and which words of a question say nothing.
function countOf(words: readonly string[]): (sentence: string) => number {
  return (sentence) => words.filter((word) => sentence.includes(word)).length;
}

// Where it found the passage by its meaning: the same words, as far as that can be told without knowing the language.
function likenessTo(question: string): (sentence: string) => number {
  const asked = wordsOf(question);
  return (sentence) => [...wordsOf(sentence)].filter((word) => asked.has(word)).length;
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
