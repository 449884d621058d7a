// Control characters, which a terminal executes, and characters that change the direction of text.
const unprintable = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** The text with every control or direction character written as `\u{…}`, so that a terminal shows it as it is. */
export function printable(text: string): string {
  return text.toWellFormed().replace(unprintable, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
