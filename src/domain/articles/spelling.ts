/** The errors that a word of this length may have and still be recognized. */
export function tolerated(letters: number): number {
  if (letters < 4) return 0;
  return letters < 8 ? 1 : 2;
}

/** The words that exchanging two neighbouring letters makes. */
export function exchanges(word: string): string[] {
  return Array.from(word.slice(1), (_, at) => `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`);
}
