/** Words that mean the same, each group a direction of its own. */
const meanings = [
  ['refund', 'refunds', 'reimburse', 'reimburses', 'cash', 'returned', 'geld', 'zurück'],
  ['hours', 'open', 'opens', 'dawn', 'daybreak', 'nine'],
  ['password', 'credentials', 'sign-in', 'locked'],
  ['parcel', 'shipment', 'courier', 'delivery'],
  ['lighthouse', 'beacon', 'tower'],
];
const dimensions = 64;

/** A vector for what a text means, as a model would make it: alike for texts with words of one group, even with none in common. */
export function meaningOf(text: string): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  for (const word of text.toLowerCase().match(/[\p{L}-]+/gu) ?? []) {
    const group = meanings.findIndex((words) => words.includes(word));
    // A meaning has eight numbers, so that its signs tell it too; other words lie elsewhere, and weigh little.
    if (group >= 0) for (let at = 0; at < 8; at += 1) bump(vector, group * 8 + at, 1);
    else bump(vector, 40 + (hashOf(word) % 24), 0.05);
  }
  return vector.map((number) => (number === 0 ? -0.01 : number));
}

function bump(vector: number[], at: number, by: number): void {
  vector[at] = (vector[at] ?? 0) + by;
}

function hashOf(word: string): number {
  return Array.from(word).reduce((hash, character) => (hash * 31 + (character.codePointAt(0) ?? 0)) % 1009, 7);
}
