/** A vector as it is stored: the sign of each number as a bit, and the numbers as bytes, which keeps its direction only. */
export interface StoredVector {
  /** A text of 0 and 1. */
  signs: string;
  numbers: Buffer;
}

const largestByte = 127;

/** The form in which a vector is stored; it must have a direction. */
export function toStored(vector: readonly number[]): StoredVector {
  const largest = vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  const numbers = Int8Array.from(vector, (number) => Math.round((number / largest) * largestByte));
  return { signs: signsOf(vector), numbers: Buffer.from(numbers.buffer) };
}

/** The signs of a vector's numbers, as a text of 0 and 1. */
export function signsOf(vector: readonly number[]): string {
  return vector.map((number) => (number < 0 ? '0' : '1')).join('');
}

/** The cosine of the angle between a vector and a stored one: 1 for the same direction. 0 where they cannot be compared. */
export function similarity(vector: readonly number[], stored: Buffer): number {
  const numbers = new Int8Array(stored.buffer, stored.byteOffset, stored.byteLength);
  if (numbers.length !== vector.length) return 0;
  let [product, ours, theirs] = [0, 0, 0];
  for (let at = 0; at < numbers.length; at += 1) {
    const [one, other] = [vector[at] as number, numbers[at] as number];
    product += one * other;
    ours += one * one;
    theirs += other * other;
  }
  return product / Math.sqrt(ours * theirs);
}
