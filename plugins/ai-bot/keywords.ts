const wordPart = /[\p{L}\p{N}\p{M}]/u;
// Written without spaces between words: there a word has no ends to look for.
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Characters of a text that are looked through at each of its ends; what lies between is something pasted. */
const endChars = 20_000;

/** The first of the keywords that the text contains as a whole word or phrase, whatever its case; null when it has none. */
export function findKeyword(text: string, keywords: readonly string[]): string | null {
  const folded = fold(text);
  return keywords.find((keyword) => contains(folded, fold(keyword))) ?? null;
}

/**
 * Compatible characters, upper and lower case and runs of whitespace are equal, and `ß` is `ss`: what Unicode calls full case
 * folding, in which the dotless `ı` of Turkish is no `i`, although its upper case is the same.
 */
function fold(text: string): string {
  // Some characters become eighteen when they are made compatible: more of them would take longer than a run may.
  const lower = endsOf(endsOf(text).normalize('NFKC')).toLowerCase();
  const folded = lower.replace(/[^ı]+/gu, (part) => part.toUpperCase().toLowerCase()).normalize('NFKC');
  return folded.replaceAll('ς', 'σ').replace(/\s+/gu, ' ').trim();
}

function endsOf(text: string): string {
  return text.length <= 2 * endChars ? text : `${text.slice(0, endChars)} … ${text.slice(-endChars)}`.toWellFormed();
}

function contains(text: string, keyword: string): boolean {
  if (keyword === '') return false;
  const first = String.fromCodePoint(keyword.codePointAt(0) ?? 0);
  const [begins, ends] = [hasEdge(first), hasEdge(lastOf(keyword))];
  for (let at = text.indexOf(keyword); at !== -1; at = text.indexOf(keyword, at + 1)) {
    const after = text.codePointAt(at + keyword.length);
    const isApart = !begins || !wordPart.test(lastOf(text.slice(Math.max(0, at - 2), at)));
    const isOver = !ends || after === undefined || !wordPart.test(String.fromCodePoint(after));
    if (isApart && isOver) return true;
  }
  return false;
}

/** Whether a word that has this character at its end needs an end there. */
function hasEdge(character: string): boolean {
  return wordPart.test(character) && !unspaced.test(character);
}

function lastOf(text: string): string {
  return Array.from(text).at(-1) ?? '';
}
