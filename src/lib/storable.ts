const replacement = '\uFFFD';
const nul = /\0/g;
// One escape of a JSON text at a time, so that a backslash that is itself escaped does not begin one. JSON.stringify writes
// a surrogate as an escape only where it stands alone.
const jsonEscape = /\\(?:u[0-9a-f]{4}|.)/g;
const unstorableEscape = /^\\u(?:0000|d[89a-f])/;

/**
 * Any text as PostgreSQL stores it, at most `maxChars` UTF-16 code units: each NUL character and each half of a surrogate
 * pair becomes U+FFFD, the character for what could not be read.
 */
export function storableText(text: string, maxChars: number): string {
  // Cut first: the cut may go through a pair.
  return text.slice(0, maxChars).toWellFormed().replace(nul, replacement);
}

/** Like storableText; null stays null. */
export function storableTextOrNull(text: string | null, maxChars: number): string | null {
  return text === null ? null : storableText(text, maxChars);
}

/** The JSON of a value as PostgreSQL stores it in jsonb: texts and property names are changed as by storableText, uncut. */
export function storableJson(value: object): string {
  return JSON.stringify(value).replace(jsonEscape, (escape) => (unstorableEscape.test(escape) ? '\\ufffd' : escape));
}
