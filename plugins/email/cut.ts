const forbidden = /[^\P{Cc}\t\n\r]/gu;

/** Returns the beginning of a text that can be stored: no half letter at its end, and no control characters besides tabs and line ends. */
export function cut(text: string, most: number): string {
  const end = text.length > most && isFirstHalf(text.charCodeAt(most - 1)) ? most - 1 : most;
  return text.slice(0, end).toWellFormed().replace(forbidden, '\uFFFD');
}

// Letters beyond U+FFFF take two places.
function isFirstHalf(code: number): boolean {
  return code >= 0xd8_00 && code <= 0xdb_ff;
}
