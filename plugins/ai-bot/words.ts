/** The words of a text in lower case, at most so many. */
export function wordsOf(text: string, most: number): string[] {
  const words: string[] = [];
  // Cut, so that no message takes longer for more words than are looked at.
  for (const [word] of text
    .slice(0, 50 * most)
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('’', "'")
    .matchAll(/[\p{L}\p{N}][\p{L}\p{M}\p{N}']*/gu)) {
    words.push(word);
    if (words.length >= most) break;
  }
  return words;
}

/** A set of the words of a list. */
export function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/));
}
