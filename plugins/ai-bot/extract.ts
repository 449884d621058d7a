const sentenceEnd = /(?<=[.!?…]["')\]]?)\s+|(?<=[。！？])|\n+/u;
const sentencesAtMost = 3;
const maxChars = 700;

/** Up to three sentences of a text that follow one another and have most words of the question in them. */
export function extract(text: string, question: string): string {
  const sentences = text.split(sentenceEnd).filter((sentence) => sentence.trim() !== '');
  const asked = wordsOf(question);
  const counts = sentences.map((sentence) => [...wordsOf(sentence)].filter((word) => asked.has(word)).length);
  let best = { at: 0, count: -1 };
  for (const at of sentences.keys()) {
    const count = counts.slice(at, at + sentencesAtMost).reduce((sum, one) => sum + one, 0);
    // The earliest of equals; but not one that begins with sentences that say nothing of it.
    if (count > best.count || (count === best.count && counts[best.at] === 0 && (counts[at] ?? 0) > 0))
      best = { at, count };
  }
  const words = sentences.slice(best.at, best.at + sentencesAtMost).map((sentence) => sentence.trim());
  return cut(words.join(' '));
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
