// Control characters, which a terminal obeys, and those that turn the direction of the text around.
const unprintable = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** The text with every character that a terminal would obey instead of showing it written as `\u{…}`. */
export function printable(text: string): string {
  return text.toWellFormed().replace(unprintable, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
