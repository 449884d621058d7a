const replacement = '\uFFFD';
const nul = /\0/g;
// Matches one escape sequence of a JSON text at a time, so that the second of two backslashes does not begin another.
// JSON.stringify escapes a surrogate only if it is unpaired.
const jsonEscape = /\\(?:u[0-9a-f]{4}|.)/g;
const unstorableEscape = /^\\u(?:0000|d[89a-f])/;

/**
 * Makes a text storable in PostgreSQL: cuts it to `maxChars` UTF-16 code units and replaces each NUL character and each
 * unpaired surrogate with U+FFFD, the replacement character.
 */
export function storableText(text: string, maxChars: number): string {
  // Cut first: the cut may split a surrogate pair.
  return text.slice(0, maxChars).toWellFormed().replace(nul, replacement);
}

/** Like storableText; null stays null. */
export function storableTextOrNull(text: string | null, maxChars: number): string | null {
  return text === null ? null : storableText(text, maxChars);
}

/**
 * The JSON of a value, storable as jsonb: texts and property names have the replacements of storableText, but no cut.
 */
export function storableJson(value: object): string {
  const text = JSON.stringify(value);
  // Most texts escape nothing, and looking for one character takes a tenth of the time.
  if (!text.includes('\\')) return text;
  return text.replace(jsonEscape, (escape) => (unstorableEscape.test(escape) ? '\\ufffd' : escape));
}
